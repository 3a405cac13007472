import type { INode } from 'n8n-workflow';
import {
	type RefusalKind,
	errorCodes,
	statusMeanings,
	passes,
} from '../../nodes/shared/gateway/protocol/errorCodes';
import { adviceOf } from '../../nodes/shared/n8n/errors/advice';
import { generations, itemsWith } from '../support/workflows/itemOperations';
import { chain, credentialFor, modelGateway } from '../support/workflows/workflows';
import type { Gateway } from '../../gateway';
import { runWorkflow } from '../harness';
import { withGateway } from '../support/http/withGateway';

const link = 'https://storage.example/picture.png';

/** Fixed responses for many items: the embedded gateway would draw 500 images. */
const responses: Partial<Record<(typeof generations)[number]['name'], object>> = {
	'image.generate': { data: [{ url: link }] },
	'image.edit': { data: [{ url: link }] },
	'image.chat': { choices: [{ message: { role: 'assistant', content: `![it](${link})` } }] },
};

const adviceOnRefusal = (refusal: RefusalKind) =>
	adviceOf({
		...{ message: 'No', reach: 'answered', status: 400, refusal, cost: 'generation' },
		...{ billed: 'no', retry_can_help: false },
	});

/** "Errors", general table and codes: refusals that no retry can change, with their advice. */
const refusals = [
	...Object.entries(errorCodes)
		.filter(([, { refusal }]) => !passes(refusal))
		.map(([code, { refusal }]) => ({
			...{ status: code === 'quota_exceeded' ? 429 : 400, code },
			advice: adviceOnRefusal(refusal),
		})),
	...[400, 401, 403].map((status) => ({
		status,
		code: 'other',
		advice: adviceOnRefusal(statusMeanings[status].refusal),
	})),
];

describe.each(generations)('$name', ({ name, route, parameters }) => {
	let gateway: Gateway;
	withGateway({}, (world) => void ({ gateway } = world));

	const run = async (texts: string[], settings: Partial<INode> = {}) =>
		await runWorkflow(chain(modelGateway(parameters, settings)), {
			credentials: credentialFor(gateway),
			input: itemsWith(texts),
		});
	const calls = () => gateway.requests.filter((request) => request.route === route);

	it.each(refusals)(
		'reports at once what HTTP $status $code means',
		async ({ status, code, advice }) => {
			gateway.fault({ route, action: 'error', status, code, message: 'so it says' });
			const error = (await run(['One'])).errorOf('Model Gateway');
			expect(error?.message).toMatch(
				new RegExp(`^Could not .+: so it says \\(HTTP ${status}, ${code}\\)$`),
			);
			expect(error?.description).toContain(advice);
			expect(calls()).toHaveLength(1);
			expect(gateway.ledger).toEqual([]);
		},
	);

	const many = 500;
	it(`processes ${many} items, each with its own text, and keeps their sequence`, async () => {
		const response = responses[name];
		if (response)
			gateway.fault({ route, action: 'answer', body: JSON.stringify(response), times: Infinity });
		const texts = Array.from({ length: many }, (_, index) => `Text ${index}.`);
		const items = (await run(texts)).items('Model Gateway');
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(texts.map((_, item) => ({ item })));
		const sent = calls().map(({ body }) => /Text \d+\./.exec(JSON.stringify(body))?.[0]);
		expect([...sent].sort()).toEqual([...texts].sort());
	});
});
