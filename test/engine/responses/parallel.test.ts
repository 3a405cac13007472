import { startGateway, type Gateway } from '../../../gateway';
import { runWorkflow, SimulatedTime, type RunOptions } from '../../harness';
import { CredentialsHelper } from '../../harness/credentials';
import { byId, chain, credentialFor, modelGateway } from '../../support/workflows/workflows';

describe('parallel items', () => {
	let gateway: Gateway;
	afterEach(async () => await gateway.close());

	const chats = async (
		count: number,
		settings = {},
		credentials = credentialFor(gateway),
		options: RunOptions = {},
	) =>
		await runWorkflow(
			chain(
				modelGateway(
					{
						...{ resource: 'chat', operation: 'complete', model: byId('chat-1') },
						messages: { values: [{ role: 'user', content: '={{ $json.text }}' }] },
					},
					{ name: 'Chat', ...settings },
				),
			),
			{
				...options,
				credentials,
				input: Array.from({ length: count }, (_, index) => ({ json: { text: `Text ${index}` } })),
			},
		);

	it('sends fewer requests at a time after a 429, and completes all items', async () => {
		// Longer than a response takes.
		const time = new SimulatedTime(200);
		gateway = await startGateway({ answerMilliseconds: 50 });
		/** At the start of each request: how many are in flight, and how many have a response. */
		const seen: Array<{ inFlight: number; responses: number }> = [];
		let responses = 0;
		gateway.on('request', () => void responses++);
		const watch = () => {
			seen.push({ inFlight: gateway.requests.length - responses, responses });
			return false;
		};
		gateway.fault({ route: 'chat', action: 'stall', when: watch });
		const headers = { 'retry-after': '1' };
		gateway.fault({
			route: 'chat',
			action: 'error',
			status: 429,
			code: 'rate_limit',
			times: 10,
			headers,
		});
		const result = await chats(30).finally(async () => await time.end());

		expect(result.items('Chat')).toHaveLength(30);
		// Ten were in flight. After the pause that the service requested, no more than five start.
		const next = seen.slice(10).filter((request) => request.responses === 10);
		expect(next.length).toBeGreaterThan(0);
		expect(next.length).toBeLessThanOrEqual(5);
		expect(gateway.requests[10].at - gateway.requests[0].at).toBeGreaterThanOrEqual(1000);
		// The number grows again as requests succeed.
		const later = seen.slice(10).map(({ inFlight }) => inFlight);
		expect(Math.max(...later)).toBeGreaterThan(next.length);
	});

	it('sends nothing when Stop comes while 2,000 items are checked', async () => {
		gateway = await startGateway();
		const { modelGatewayApi } = credentialFor(gateway);
		let stop = () => {};
		const credentials = {
			// The node reads the credential before any parameter.
			get modelGatewayApi() {
				setImmediate(stop);
				return modelGatewayApi;
			},
		};
		const result = await chats(2000, {}, credentials, { onStart: (cancel) => (stop = cancel) });
		expect(result.status).toBe('canceled');
		expect(gateway.requests).toEqual([]);
	});

	it("reads n8n's store of credentials once for all items", async () => {
		gateway = await startGateway();
		const { modelGatewayApi } = credentialFor(gateway);
		let reads = 0;
		const credentials = {
			get modelGatewayApi() {
				reads++;
				return modelGatewayApi;
			},
		};
		const result = await chats(25, {}, credentials);
		expect(result.items('Chat')).toHaveLength(25);
		// The harness reads it once more, so that test/support/setup/secrets.ts can search for the key.
		expect(reads).toBe(1 + 1);
	});

	describe('authentication', () => {
		afterEach(() => jest.restoreAllMocks());

		it('lets n8n authenticate requests only until the first response', async () => {
			gateway = await startGateway();
			let answerAll = () => {};
			const until = new Promise<void>((resolve) => (answerAll = resolve));
			const when = () => {
				if (gateway.requests.length === 10) answerAll();
				return true;
			};
			gateway.fault({ route: 'chat', action: 'stall', until, when, times: 10 });
			const sign = jest.spyOn(CredentialsHelper.prototype, 'authenticate');

			expect((await chats(50)).items('Chat')).toHaveLength(50);
			expect(sign).toHaveBeenCalledTimes(10);
		});

		it('lets n8n authenticate every request when n8n does not reveal the key', async () => {
			gateway = await startGateway();
			const { authenticate } = CredentialsHelper.prototype;
			const sign = jest
				.spyOn(CredentialsHelper.prototype, 'authenticate')
				.mockImplementation(async function (this: CredentialsHelper, ...[data, type, sent, ...on]) {
					return await authenticate.call(
						this,
						data,
						type,
						{ ...sent, headers: { ...sent.headers } },
						...on,
					);
				});

			expect((await chats(30)).items('Chat')).toHaveLength(30);
			expect(sign).toHaveBeenCalledTimes(30);
		});
	});
});
