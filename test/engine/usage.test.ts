import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../gateway';
import { runWorkflow } from '../harness';
import { picture } from '../support/samples';
import { byId, chain, credentialFor, modelGateway } from '../support/workflows';
import { withGateway } from '../support/withGateway';

interface Usage {
	total_tokens?: number;
	/** A message tells of its tokens apart. */
	input_tokens: number;
	output_tokens: number;
}

const sumOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0);

const messages = { values: [{ role: 'user', content: 'Hello there' }] };
const prompt = 'A lighthouse at night';

/** The cases in which one answer, or one request, becomes or serves several items are among them. */
const cases: Array<[string, string, IDataObject]> = [
	['a chat', 'chat.complete', { model: byId('chat-1'), messages }],
	[
		'a chat that is streamed',
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
		'embeddings in a request each',
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
	['an image of a chat', 'image.chat', { model: byId('image-chat-1'), prompt }],
];

describe('the tokens that the service tells of', () => {
	let gateway: Gateway;
	withGateway({}, (world) => void ({ gateway } = world));

	describe.each([true, false])('with Simplify %s', (simplify) => {
		it.each(cases)('are in the items, each once: %s', async (_, path, parameters) => {
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
			// The nodes pass on what the service says of usage without reading it.
			const told = result
				.items('Model Gateway')
				.flatMap(({ json }) => (json.usage ? [json.usage as unknown as Usage] : []));
			expect(gateway.ledger.length).toBeGreaterThan(0);
			expect(told).toHaveLength(gateway.ledger.length);
			// The others are billed by the picture.
			if (gateway.ledger.some(({ unit }) => unit !== 'token')) return;
			const counts = told.map(
				(usage) => usage.total_tokens ?? usage.input_tokens + usage.output_tokens,
			);
			expect(sumOf(counts)).toBe(sumOf(gateway.ledger.map(({ quantity }) => quantity)));
		});
	});
});
