import fc from 'fast-check';
import type { IDataObject, INode } from 'n8n-workflow';
import { startGateway, type FaultAction, type Gateway, type Route } from '../gateway';
import { SimulatedTime, retryExecution, runWorkflow, type WorkflowRun } from '../harness';
import { picture } from './support/samples';
import { byId, chain, createReferenceVideo, modelGateway } from './support/workflows';

/** How many runs, and the seed that makes them the same every time; both can be set for a longer search. */
const numRuns = Number(process.env.MONEY_RUNS ?? 10_000);
const seed = Number(process.env.MONEY_SEED ?? 20_261_121);
/** The gateway remembers every request. */
const runsOfGateway = 250;
/** Where nobody listens. */
const nobody = 'http://127.0.0.1:1';

interface Paid {
	name: string;
	route: Route;
	parameters: IDataObject;
	/** It makes a job, and the user decides about lost answers. */
	makesJob?: boolean;
}

const text = '={{ $json.text }}';
const messages = { values: [{ role: 'user', content: text }] };

const operations: Paid[] = [
	{
		...{ name: 'referenceVideo.create', route: 'referenceVideoCreate', makesJob: true },
		parameters: { ...createReferenceVideo().parameters, prompt: text },
	},
	{
		...{ name: 'video.create', route: 'videoCreate', makesJob: true },
		parameters: { resource: 'video', operation: 'create', model: byId('vid-3.1'), prompt: text },
	},
	{
		...{ name: 'chat.complete', route: 'chat' },
		parameters: { resource: 'chat', operation: 'complete', model: byId('chat-1'), messages },
	},
	{
		...{ name: 'message.create', route: 'message' },
		parameters: {
			...{ resource: 'message', operation: 'create', model: byId('chat-1'), messages },
			...{ maxTokens: 50 },
		},
	},
	{
		...{ name: 'embedding.create', route: 'embedding' },
		parameters: { resource: 'embedding', operation: 'create', model: byId('embed-1'), input: text },
	},
];

/** What can go wrong with a paid request; each at any stage at which it can. */
const faults: FaultAction[] = [
	...[false, true].flatMap((accepted): FaultAction[] => [
		{ action: 'reset', accepted },
		{ action: 'stall', accepted },
		{ action: 'answer', accepted, status: 502, body: '<html>Bad Gateway</html>' },
		{ action: 'answer', accepted, body: '' },
		{ action: 'answer', accepted, body: '{"id":' },
	]),
	...(
		[
			[429, 'rate_limit_exceeded'],
			[429, 'quota_exceeded'],
			[400, 'invalid_prompt'],
			[500, 'upstream_error'],
			[500, 'write_response_body_failed'],
			[500, 'server_error'],
			[503, 'unavailable'],
		] as const
	).map(([status, code]): FaultAction => ({ action: 'error', status, code })),
	{ action: 'cut', after: '50%' },
	{ action: 'cut', after: 0 },
	{ action: 'freeze', after: '50%' },
	{ action: 'wrongLength', by: 10 },
	{ action: 'wrongLength', by: -10 },
	{ action: 'headers', headers: { 'content-type': 'text/html' } },
];

/** After these, the answer is what it was. */
const harmless = new Set<FaultAction['action'] | undefined>([undefined, 'headers']);

const scenario = fc.record({
	operation: fc.constantFrom(...operations),
	items: fc.integer({ min: 1, max: 4 }),
	faults: fc.array(
		fc.record({
			fault: fc.constantFrom(...faults),
			times: fc.integer({ min: 1, max: 6 }),
			skip: fc.integer({ min: 0, max: 3 }),
		}),
		{ maxLength: 4 },
	),
	resends: fc.boolean(),
	parallel: fc.constantFrom(1, 2, 10),
	hasBackup: fc.boolean(),
	isDown: fc.boolean(),
	onError: fc.constantFrom<INode['onError'][]>(
		'stopWorkflow',
		'continueRegularOutput',
		'continueErrorOutput',
	),
	retryOnFail: fc.boolean(),
	/** How often the user presses Retry in the list of executions, as long as they fail. */
	retries: fc.integer({ min: 0, max: 2 }),
	/** Stop is pressed after so many requests. */
	stopAfter: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 8, nil: undefined }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

/** A gateway, what is ordered of it, and what it bills. */
class Shop {
	private gateway!: Gateway;
	private media: IDataObject[] = [];
	private runs = 0;

	async start(): Promise<void> {
		this.gateway = await startGateway({ jobSeconds: Infinity });
		const url = this.gateway.addMedia('a.png', picture('red', 32, 24), 'image/png');
		this.media = [{ type: 'reference_image', url }];
	}

	async close(): Promise<void> {
		await this.gateway.close();
	}

	/** @throws Error when money or a job was lost */
	async check(given: Scenario): Promise<void> {
		if (++this.runs % runsOfGateway === 0) {
			await this.close();
			await this.start();
		}
		const { gateway, runs } = this;
		const texts = Array.from({ length: given.items }, (_, item) => `Run ${runs}, item ${item}.`);
		const { route, makesJob } = given.operation;
		const before = { requests: gateway.requests.length, charges: gateway.ledger.length };
		const armed = given.faults.map(({ fault, ...rule }) =>
			gateway.fault({ ...fault, ...rule, route }),
		);
		const made = await this.executions(given, texts);
		for (const fault of armed) fault.remove();

		const requests = gateway.requests.slice(before.requests);
		const paid = gateway.ledger.slice(before.charges).map(({ requestId, job }) => {
			const request = requests.find((candidate) => candidate.requestId === requestId);
			return { job, fault: request?.fault, body: JSON.stringify(request?.body) };
		});
		for (const text of texts) {
			const times = paid.filter(({ body }) => body.includes(`"${text}"`)).length;
			const isChosen = makesJob && given.resends;
			if (times > 1 && !isChosen) throw new Error(`"${text}" was paid ${times} times`);
		}
		const shown = made.map(({ data }) => JSON.stringify(data.resultData)).join();
		for (const { job, fault } of paid) {
			const hasReached = harmless.has(fault?.action);
			if (job && hasReached && !shown.includes(job)) throw new Error(`job ${job} is lost`);
		}
	}

	/** Runs the node, and again as long as it fails and the user has patience. The last one comes first. */
	private async executions(given: Scenario, texts: string[]): Promise<WorkflowRun[]> {
		const { gateway, media } = this;
		let stop: (() => void) | undefined;
		let left = given.stopAfter;
		const count = () => {
			if (left !== undefined && --left === 0) stop?.();
		};
		const settings = {
			credentials: { modelGatewayApi: credentialOf(given, gateway) },
			onStart: (cancel: () => void) => void (stop = cancel),
		};
		gateway.on('request', count);
		try {
			const input = texts.map((text) => ({ json: { text, media } }));
			const made = [await runWorkflow(chain(nodeOf(given)), { ...settings, input })];
			for (let retries = 0; retries < given.retries && made[0].status !== 'success'; retries++) {
				made.unshift(await retryExecution(made[0], settings));
			}
			return made;
		} finally {
			gateway.off('request', count);
		}
	}
}

function nodeOf({ operation, resends, parallel, onError, retryOnFail }: Scenario) {
	const options = {
		parallelRequests: parallel,
		...(operation.makesJob && { ifAnswerLost: resends ? 'resend' : 'stop' }),
		...(operation.route === 'embedding' && { batchSize: 2 }),
		...(operation.route === 'referenceVideoCreate' && { duration: 2 }),
	};
	return modelGateway(
		{ ...operation.parameters, options },
		{ name: 'Paid', onError, retryOnFail, maxTries: 3, waitBetweenTries: 1 },
	);
}

function credentialOf({ hasBackup, isDown }: Scenario, { url, backupUrl, apiKey }: Gateway) {
	const credential: Record<string, string> = { apiKey, baseUrl: url };
	if (hasBackup) Object.assign(credential, { backupUrl, ...(isDown && { baseUrl: nobody }) });
	return credential;
}

describe('money', () => {
	const shop = new Shop();
	let time: SimulatedTime;

	beforeAll(async () => {
		time = new SimulatedTime(10);
		await shop.start();
	});
	afterAll(async () => {
		await shop.close();
		await time.end();
	});

	it(
		`is paid at most once for an item, and no job that we heard of is lost: ${numRuns} runs, seed ${seed}`,
		async () => {
			const property = fc.asyncProperty(scenario, async (given) => await shop.check(given));
			await fc.assert(property, { numRuns, seed });
		},
		20 * 60_000,
	);
});
