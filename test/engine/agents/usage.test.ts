import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { picture } from '../../support/data/samples';
import { byId, chain, credentialFor, modelGateway } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

interface Usage {
	total_tokens?: number;
	/** A native message counts input and output separately. */
	input_tokens: number;
	output_tokens: number;
}

const sumOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0);

const messages = { values: [{ role: 'user', content: 'Hello there' }] };
const prompt = 'A lighthouse at night';

/** In some cases, one response becomes several items, or one request serves several items. */
const cases: Array<[string, string, IDataObject]> = [
	['a chat', 'chat.complete', { model: byId('chat-1'), messages }],
	[
		'a streamed chat',
		'chat.complete',
		{ model: byId('chat-1'), messages, options: { stream: true } },
	],
	[
		'a chat with three answers',
		'chat.complete',
		{ model: byId('chat-1'), messages, options: { n: 3 } },
	],
	['a message', 'message.create', { model: byId('chat-1'), messages }],
	['embeddings', 'embedding.create', { model: byId('embed-1'), input: prompt }],
	[
		'embeddings with one request per text',
		'embedding.create',
		{ model: byId('embed-1'), input: prompt, options: { batchSize: 1 } },
	],
	['generated images', 'image.generate', { model: byId('image-1'), prompt }],
	[
		'three generated images',
		'image.generate',
		{ model: byId('image-1'), prompt, options: { n: 3 } },
	],
	['an edited image', 'image.edit', { model: byId('image-edit-1'), prompt }],
	['an image by chat', 'image.chat', { model: byId('image-chat-1'), prompt }],
];

describe('token usage', () => {
	let gateway: Gateway;
	withGateway({}, (world) => void ({ gateway } = world));

	describe.each([true, false])('with Simplify %s', (simplify) => {
		it.each(cases)(
			'reports the tokens of each charge in exactly one item: %s',
			async (_, path, parameters) => {
				const [resource, operation] = path.split('.');
				const node = modelGateway({ resource, operation, simplify, ...parameters });
				const data = Buffer.from(picture('red')).toString('base64');
				const binary = { data: { mimeType: 'image/png', fileName: 'photo.png', data } };
				const result = await runWorkflow(chain(node), {
					credentials: credentialFor(gateway),
					input: [
						{ json: {}, binary },
						{ json: {}, binary },
					],
				});
				// The nodes do not parse the usage, so it has the form that the service gave it.
				const usages = result
					.items('Model Gateway')
					.flatMap(({ json }) => (json.usage ? [json.usage as unknown as Usage] : []));
				expect(gateway.ledger.length).toBeGreaterThan(0);
				expect(usages).toHaveLength(gateway.ledger.length);
				// The others are charged per image.
				if (gateway.ledger.some(({ unit }) => unit !== 'token')) return;
				const counts = usages.map(
					(usage) => usage.total_tokens ?? usage.input_tokens + usage.output_tokens,
				);
				expect(sumOf(counts)).toBe(sumOf(gateway.ledger.map(({ quantity }) => quantity)));
			},
		);
	});
});
