import { withGateway } from '../../support/http/withGateway';
import {
	continues,
	nodeFor,
	run as runNode,
	type Fields,
	type Operation,
} from '../../support/nodes';
import { byId } from '../../support/workflows/workflows';

const routes = [
	...(['referenceVideoCreate', 'videoCreate', 'imageGenerate', 'imageEdit'] as const),
	...(['chat', 'message', 'embedding'] as const),
];

/** n8n refuses a required field without a value, but accepts any expression. */
const empty = '={{ "" }}';

describe('options that change the request', () => {
	const { gateway } = withGateway({ jobSeconds: Infinity });
	beforeEach(() => {
		// Only the requests matter here, so the gateway refuses them all.
		const refusal = { action: 'error', status: 403, code: 'permission_denied' } as const;
		for (const route of routes) gateway.fault({ route, ...refusal, times: Infinity });
	});

	/** The body of the request, or the error of a node that sends nothing. */
	const run = async (name: Operation, parameters: Fields) => {
		const result = await runNode(gateway, nodeFor(name, parameters), { input: [{ json: {} }] });
		const body = gateway.requests[0]?.body as Fields | undefined;
		return { body, message: result.errorOf('Node')?.message };
	};

	describe('Extra Body', () => {
		it('checks the fields of Extra Body by the rules of the model', async () => {
			const options = { extraBody: '{ "parameters": { "duration": 20 } }' };
			const { body, message } = await run('referenceVideo.create', { options });
			expect(body).toBeUndefined();
			expect(message).toContain('must be a whole number from 2 to 15 (it is 20)');
		});

		it('sends fields of Extra Body as text or JSON when the request is a form', async () => {
			const extraBody = {
				output: { format: 'png' },
				background: 'transparent',
				image: 'https://a/b',
				style: null,
			};
			const options = { extraBody };
			const { body } = await run('image.edit', { imageSource: 'binary', options });
			expect(body).toMatchObject({
				output: '{"format":"png"}',
				background: 'transparent',
				image: 'https://a/b',
			});
			expect(body).not.toHaveProperty('style');
		});

		it.each<[Operation, Fields, Fields]>([
			['chat.complete', { messages: {} }, { messages: [{ role: 'developer', content: 'Hi' }] }],
			['message.create', { messages: {} }, { messages: [{ role: 'user', content: [] }] }],
			['image.chat', { prompt: empty }, { messages: [{ role: 'user', content: 'A boat' }] }],
			['image.generate', { prompt: empty }, { prompt: ['A boat', 'A car'] }],
			['embedding.create', { model: byId(empty) }, { model: 'embed-2' }],
			['video.create', { prompt: empty, model: byId(empty) }, { prompt: 'A boat', model: 'vid-4' }],
			[
				'referenceVideo.create',
				{ media: {} },
				{ input: { media: [{ type: 'reference_image', url: 'https://firm.example/a.png' }] } },
			],
		])(
			'accepts a required field from Extra Body alone: %s',
			async (name, parameters, extraBody) => {
				const { body } = await run(name, { ...parameters, options: { extraBody } });
				expect(body).toMatchObject(extraBody);
			},
		);

		it.each([null, false])('sends a stream that Extra Body turns off: %s', async (stream) => {
			const { body } = await run('image.generate', { options: { extraBody: { stream } } });
			expect(body).toMatchObject({ stream });
		});

		it('sends embeddings with different Extra Body fields in separate requests', async () => {
			const options = { extraBody: '={{ { user: $json.user } }}' };
			const node = nodeFor('embedding.create', { options }, continues);
			const input = ['a', 'b', 'a'].map((user) => ({ json: { user } }));
			await runNode(gateway, node, { input });
			const bodies = gateway.requests.map(({ body }) => body);
			expect(bodies).toEqual([
				{ model: 'embed-1', input: ['A boat', 'A boat'], user: 'a' },
				{ model: 'embed-1', input: ['A boat'], user: 'b' },
			]);
		});
	});

	it.each<[string, Operation, Fields, Fields]>([
		['Image', 'image.edit', {}, { imageSource: 'binary' }],
		['Extra Body (JSON)', 'video.create', { extraBody: 'a=b' }, {}],
		['such as NaN', 'video.create', { extraBody: '={{ { a: NaN } }}' }, {}],
		['Temperature', 'chat.complete', { temperature: '={{ NaN }}' }, {}],
		['Version Header Name', 'message.create', { versionHeaderName: 'authorization' }, {}],
		['Version Header Value', 'message.create', { versionHeaderValue: '2024\n01' }, {}],
		['Input', 'embedding.create', {}, { input: '={{ { a: 1 } }}' }],
	])(
		'names a field that cannot be sent even with Skip Checks: %s',
		async (field, name, options, parameters) => {
			const withoutChecks = { ...options, skipChecks: true };
			const { body, message } = await run(name, { options: withoutChecks, ...parameters });
			expect(body).toBeUndefined();
			expect(message).toContain(field);
		},
	);
});
