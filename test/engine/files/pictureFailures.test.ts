import { retryExecution } from '../../harness';
import { answer, startServer, type Reply } from '../../support/http/scriptedServer';
import { storage } from '../../support/http/scriptedStorage';
import { withGateway } from '../../support/http/withGateway';
import { nodeFor, png, run as runNode, type Operation } from '../../support/nodes';
import type { NodeSettings } from '../../support/workflows/workflows';

const signed = `sig=${'a%2Fb%3D'.repeat(60)}`;
const continuing = { onError: 'continueErrorOutput' } as const;

const { gateway } = withGateway({ isTimeSimulated: true });

const run = async (name: Operation = 'image.generate', settings: NodeSettings = {}) =>
	await runNode(gateway, nodeFor(name, {}, settings));
/** A storage host that has every image except those below /gone. */
const startHost = async (gone: Reply = answer(410, '')) =>
	await startServer((response, request) =>
		(request.path.startsWith('/gone') ? gone : answer(200, png))(response, request),
	);
const answers = (data: unknown, headers = { 'x-request-id': 'order-7' }) =>
	gateway.fault({
		route: 'imageGenerate',
		action: 'answer',
		headers,
		body: JSON.stringify({ data }),
	});
const orders = () => gateway.requests.filter(({ host }) => host !== 'storage').length;

describe('images that cannot be fetched', () => {
	it('shows the text of a chat in the error of an image that cannot be fetched', async () => {
		const { url } = await startHost();
		const content = `One ![a](${url}/1), two ![b](${url}/gone?${signed}).`;
		const body = JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] });
		gateway.fault({ route: 'chat', action: 'answer', body });
		const result = await run('image.chat', continuing);
		expect(result.items('Node')).toHaveLength(1);
		expect(result.items('Node', { output: 1 })).toMatchObject([
			{ json: { details: { partial_text: content, url: `${url}/gone?${signed}` } } },
		]);
	});

	it('says that no retry helps when the link of an image is dead', async () => {
		const body = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
		const { url } = await startHost(answer(403, body));
		answers([{ url: `${url}/gone` }]);
		const failed = await run();
		expect(failed.errorOf('Node')).toMatchObject({
			description: expect.stringMatching(/its link no longer works.*again.*charged again/),
			context: { data: { retry_can_help: false, billed: 'yes', url: `${url}/gone` } },
		});
		const retried = await retryExecution(failed);
		const { data } = retried.errorOf('Node')?.context ?? {};
		expect(data).toMatchObject({ retry_can_help: false });
		expect(orders()).toBe(1);
	});
});

describe('an image on the gateway itself, which asks for the key', () => {
	/** A gateway that gives everything only with a key, and this as the answer to an order. */
	const serve = async (answerOf: (url: string) => unknown) => {
		const server = await startServer((response, request) => {
			const isKeyMissing = request.headers.authorization === undefined;
			if (isKeyMissing) return answer(401, '')(response, request);
			const body = request.method === 'POST' ? JSON.stringify(answerOf(server.url)) : png;
			return answer(200, body)(response, request);
		});
		return server;
	};
	const from = async ({ url }: { url: string }, name: Operation) =>
		await runNode({ url, apiKey: gateway.apiKey }, nodeFor(name));

	it('is fetched with it', async () => {
		const server = await serve((url) => ({ data: [{ url: `${url}/files/1` }] }));
		const result = await from(server, 'image.generate');
		expect(await result.binary(result.items('Node')[0])).toEqual(png);
	});

	it('is not when its link stands where no answer has an image', async () => {
		const server = await serve((url) => ({ made: { location: `${url}/v1/models` } }));
		expect((await from(server, 'image.generate')).errorOf('Node')).toBeDefined();
		const keys = server.requests.filter(({ method }) => method === 'GET');
		expect(keys.map(({ headers }) => headers.authorization)).toStrictEqual([undefined]);
	});

	it('is not when a model wrote the link, which may lead to anything there', async () => {
		const server = await serve((url) => ({
			choices: [{ message: { role: 'assistant', content: `![a](${url}/v1/models)` } }],
		}));
		const failed = await from(server, 'image.chat');
		expect(failed.errorOf('Node')?.context.data).toMatchObject({ status: 401 });
		expect(server.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
	});
});

describe('an image that ends early', () => {
	const half = png.subarray(0, png.length / 2);
	const serve = async (...replies: Reply[]) => {
		const server = await startServer(...replies);
		answers([{ url: `${server.url}/p?sig=a%2Fb` }]);
		return server;
	};

	it('is downloaded again', async () => {
		await serve(answer(200, half), storage(png));
		const result = await run();
		expect(await result.binary(result.items('Node')[0])).toEqual(png);
	});

	it('is delivered, with a hint, when it ends each time at the announced length', async () => {
		const server = await serve(storage(half));
		const result = await run();
		expect(await result.binary(result.items('Node')[0])).toEqual(half);
		expect(result.hintsOf('Node')).toEqual([
			'image.png ends in the middle: it arrived as the service made it.',
		]);
		expect(server.requests).toHaveLength(2);
	});

	it('fails when its length was not announced', async () => {
		const server = await serve((response) => {
			response.write(half.subarray(0, 99));
			response.end(half.subarray(99));
		});
		const error = (await run()).errorOf('Node');
		expect(error?.message).toContain('the file ends too early');
		expect(error?.description).toContain('The image is made and charged.');
		// It starts again five times, each time after it could not resume.
		expect(server.requests).toHaveLength(12);
	});
});

describe('unusable base64 images', () => {
	const html = Buffer.from('<html>Out of paint</html>').toString('base64');

	it.each([
		['a web page', { b64_json: html }, 'is no image: <html>Out of paint</html>'],
		[
			'a web page in a data URL of an image',
			{ url: `data:image/png;base64,${html}` },
			'is no image',
		],
	])(
		'reports an unusable base64 image, and delivers the other image: %s',
		async (_, entry, problem) => {
			answers([entry, { b64_json: png.toString('base64') }]);
			const result = await run('image.generate', continuing);
			const items = result.items('Node');
			expect(items.map(({ json }) => json.index)).toEqual([1]);
			expect(await result.binary(items[0])).toEqual(png);
			expect(result.items('Node', { output: 1 })).toMatchObject([
				{
					json: {
						error: expect.stringContaining(problem),
						details: { billed: 'yes', retry_can_help: false, request_id: 'order-7' },
					},
				},
			]);
		},
	);
});

describe('image responses', () => {
	it('shows a hint with the number of missing images and the reason', async () => {
		const { url } = await startHost();
		answers([{ url: `${url}/1` }, { url: null, error: { message: 'Out of paint' } }, {}]);
		const result = await run();
		expect(result.items('Node')).toHaveLength(1);
		expect(result.hintsOf('Node')).toEqual([
			expect.stringMatching(/^The response lacks 2 of its images: .*Out of paint/),
		]);
	});
});
