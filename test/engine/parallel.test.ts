import { startGateway, type Gateway } from '../gateway';
import { runWorkflow, SimulatedTime, type RunOptions } from '../harness';
import { CredentialsHelper } from '../harness/credentials';
import { byId, chain, credentialFor, modelGateway } from '../support/workflows';

describe('items side by side', () => {
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

	it('are fewer in flight after a 429, and all succeed', async () => {
		// Longer than an answer takes.
		const time = new SimulatedTime(200);
		gateway = await startGateway({ answerMilliseconds: 50 });
		/** How many requests are in flight, at the beginning of each; and how many have been answered by then. */
		const seen: Array<{ inFlight: number; answered: number }> = [];
		let answered = 0;
		gateway.on('request', () => void answered++);
		const watch = () => {
			seen.push({ inFlight: gateway.requests.length - answered, answered });
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
		// Ten were in flight; after the pause that the service asked for, five begin.
		const next = seen.slice(10).filter((request) => request.answered === 10);
		expect(next.length).toBeGreaterThan(0);
		expect(next.length).toBeLessThanOrEqual(5);
		expect(gateway.requests[10].at - gateway.requests[0].at).toBeGreaterThanOrEqual(1000);
		// And the number grows again with what succeeds.
		const later = seen.slice(10).map(({ inFlight }) => inFlight);
		expect(Math.max(...later)).toBeGreaterThan(next.length);
	});

	it('record what is under way when one fails, and the next try orders only the rest', async () => {
		gateway = await startGateway({ answerMilliseconds: 50 });
		const fails = (text: string) => ({
			...({ route: 'chat', action: 'error', status: 400, code: 'invalid_prompt' } as const),
			when: ({ body }: { body?: unknown }) => JSON.stringify(body).includes(`"${text}"`),
		});
		gateway.fault(fails('Text 4'));
		gateway.fault(fails('Text 15'));
		const result = await chats(25, { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 });
		expect(result.items('Chat')).toHaveLength(25);
		expect(gateway.ledger).toHaveLength(25);
	});

	it('are not sent when Stop comes while thousands of them are checked', async () => {
		gateway = await startGateway();
		const { modelGatewayApi } = credentialFor(gateway);
		let stop = () => {};
		const credentials = {
			// The node's first step, before it reads any parameter.
			get modelGatewayApi() {
				setImmediate(stop);
				return modelGatewayApi;
			},
		};
		const result = await chats(2000, {}, credentials, { onStart: (cancel) => (stop = cancel) });
		expect(result.status).toBe('canceled');
		expect(gateway.requests).toEqual([]);
	});

	it("share one look into n8n's store of credentials", async () => {
		gateway = await startGateway();
		const { modelGatewayApi } = credentialFor(gateway);
		let looks = 0;
		const credentials = {
			get modelGatewayApi() {
				looks++;
				return modelGatewayApi;
			},
		};
		const result = await chats(25, {}, credentials);
		expect(result.items('Chat')).toHaveLength(25);
		// One more is ours, which searches all that is stored for the key (test/support/secrets.ts).
		expect(looks).toBe(1 + 1);
	});

	describe('with the key', () => {
		afterEach(() => jest.restoreAllMocks());

		it('are authenticated by n8n only until the first response', async () => {
			gateway = await startGateway({ answerMilliseconds: 20 });
			const sign = jest.spyOn(CredentialsHelper.prototype, 'authenticate');

			expect((await chats(50)).items('Chat')).toHaveLength(50);
			expect(sign).toHaveBeenCalledTimes(10);
		});

		it('are all authenticated by an n8n that keeps the key to itself', async () => {
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
