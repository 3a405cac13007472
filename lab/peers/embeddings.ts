import { byId, core, modelGateway } from '../../test/support/workflows/workflows';
import { atLeast } from '../report';
import { fromTexts, type Measured } from './measure';
import { credentialsFor, httpRequest, post, result } from './nodes';
import { inTurns, medianOf, ratio, type Row } from './rounds';
import { embeddingMilliseconds } from './service';
import type { Work } from './work';

const gateway = 'embeddings';
const dimensions = 256;

/** Many texts in one node. */
export const embeddings: Work = async ({ rounds, isSmall, ...setup }) => {
	const count = isSmall ? 200 : 1000;
	const { url } = setup.service.gateways.embeddings;
	const { ours, header } = await credentialsFor(setup, gateway);
	const order = { resource: 'embedding', operation: 'create', model: byId('embed-1') };
	const body = '={{ JSON.stringify({ model: "embed-1", input: $json.text }) }}';
	const ways = [
		{
			...({ name: 'Model Gateway', gateway } as const),
			workflow: fromTexts([modelGateway({ ...order, input: '={{ $json.text }}' }, ours), result]),
		},
		{
			...({ name: 'HTTP Request node', gateway } as const),
			workflow: fromTexts([
				httpRequest('HTTP Request', post(`${url}/v1/embeddings`, body), header),
				result,
			]),
		},
	];
	const fields = {
		assignments: [{ id: '1', name: 'text', type: 'string', value: '={{ $json.text }}' }],
	};
	const sendsNothing = {
		...({ name: 'Edit Fields node, without a request', gateway } as const),
		workflow: fromTexts([core('Edit Fields', 'set', { assignments: fields }, 3.4), result]),
	};
	const texts = Array.from({ length: count }, (_, index) => `Text ${index} of a catalogue`);
	const check = ({ items, charges, requests }: Measured, wanted: number) => {
		const whole = items.filter(({ json }) => vectorOf(json)?.length === dimensions);
		if (whole.length !== wanted) throw new Error(`${wanted} texts gave ${whole.length} vectors`);
		if (charges !== requests) throw new Error(`${requests} requests made ${charges} charges`);
	};
	const rows = await inTurns(setup, ways, { texts, rounds, warmUp: 3, check });
	const [floor] = await inTurns(setup, [sendsNothing], {
		texts,
		rounds,
		warmUp: 3,
		check({ items }, wanted) {
			if (items.length !== wanted) throw new Error(`${wanted} items gave ${items.length}`);
		},
	});
	const least = seconds(floor) + embeddingMilliseconds / 1000;
	return {
		title: `${count} embeddings, ${embeddingMilliseconds} ms per request`,
		about: [
			`${count} items with a short text each reach one node. The server responds to a request after ${embeddingMilliseconds} ms, with vectors of ${dimensions} numbers. Both nodes have their default settings.`,
			'Model Gateway sends up to 100 items in one request (**Batch Size**), and gives each item its own vector. The HTTP Request node sends one request for each item, all at once. To send fewer requests, you would need other nodes that build the batches and split the responses. The OpenAI node has no operation for embeddings; its sub-node is compared below.',
		],
		tables: [{ title: 'Time', rows, bars: 'seconds' }],
		findings: [
			`n8n itself takes ${seconds(floor).toFixed(2)} s of this time. That is how long the same workflow takes with the Edit Fields node, which evaluates one expression for each item and sends nothing. Together with one response of the server, no node could take less than ${least.toFixed(2)} s, or be more than ${(seconds(rows[1]) / least).toFixed(1)} times as fast as the HTTP Request node. Model Gateway evaluates and checks the expressions of all items before it sends anything.`,
		],
		goals: [
			atLeast(
				`${count} embeddings: time of the HTTP Request node / ours`,
				ratio(rows[1], rows[0]),
				8,
				{ unit: 'times', digits: 1 },
			),
		],
	};
};

const seconds = (row: Row) => medianOf(row, (run) => run.seconds);

/** Our node returns the vector of each item, and the HTTP Request node the whole response. */
function vectorOf(json: object): unknown[] | undefined {
	const { embedding, data } = json as {
		embedding?: unknown[];
		data?: Array<{ embedding: unknown[] }>;
	};
	return embedding ?? data?.[0].embedding;
}
