import fc from 'fast-check';
import type { IDataObject, INode } from 'n8n-workflow';
import { endpoints } from '../../nodes/shared/gateway/protocol/endpoints';
import { byId, createReferenceVideo } from '../support/workflows/workflows';
import type { FaultAction, Route } from '../../gateway';

/** An operation that costs money. */
interface Paid {
	name: string;
	route: Route & keyof typeof endpoints;
	parameters: IDataObject;
}

/** With `reword`, it is another text in each try. */
const text = '={{ $json.text + ($json.reword ? " " + Math.random() : "") }}';
const messages = { values: [{ role: 'user', content: text }] };

export const operations: Paid[] = [
	{
		...{ name: 'referenceVideo.create', route: 'referenceVideoCreate' },
		parameters: { ...createReferenceVideo().parameters, prompt: text },
	},
	{
		...{ name: 'video.create', route: 'videoCreate' },
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
		...{ name: 'image.generate', route: 'imageGenerate' },
		parameters: {
			...{ resource: 'image', operation: 'generate', model: byId('image-1') },
			...{ prompt: text, download: false },
		},
	},
	{
		...{ name: 'embedding.create', route: 'embedding' },
		parameters: { resource: 'embedding', operation: 'create', model: byId('embed-1'), input: text },
	},
];

const undelivered = { message: 'no', code: 'write_response_body_failed' };

/** The faults of a paid request, at every stage at which each can occur. */
export const faults: FaultAction[] = [
	...[false, true].flatMap((accepted): FaultAction[] => [
		{ action: 'reset', accepted },
		{ action: 'stall', accepted },
		{ action: 'answer', accepted, status: 502, body: '<html>Bad Gateway</html>' },
		{ action: 'answer', accepted, status: 500, body: JSON.stringify({ error: undelivered }) },
		{ action: 'answer', accepted, body: '' },
		{ action: 'answer', accepted, body: '{"id":' },
	]),
	...(
		[
			[429, 'rate_limit_exceeded'],
			[429, 'quota_exceeded'],
			[400, 'invalid_prompt'],
			[500, 'upstream_error'],
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

/** These leave the response as it was. */
export const harmless = new Set<FaultAction['action'] | undefined>([undefined, 'headers']);

const times = fc.integer({ min: 1, max: 6 });

/** Present in one of four scenarios. */
const inOneOfFour = <T>(arbitrary: fc.Arbitrary<T>) =>
	fc.oneof({ arbitrary: fc.constant(undefined), weight: 3 }, { arbitrary, weight: 1 });

/** The entries that a small store keeps. */
export const smallStore = 64;

const kills = fc.record({
	/** When its orders are recorded, a job is accepted, a request is over, or all has ended but is not stored. */
	at: fc.constantFrom('record', 'job', 'request', 'end'),
	/** At which of these, counted from 1. */
	times: fc.integer({ min: 1, max: 3 }),
});

/** A call of n8n's store, and whether before or after it is written. */
const calls = fc.record({
	/** Counted from 1. */
	at: fc.integer({ min: 1, max: 16 }),
	when: fc.constantFrom('before' as const, 'after' as const),
});

export const scenarios = fc.record({
	operation: fc.constantFrom(...operations),
	items: fc.integer({ min: 1, max: 3 }),
	faults: fc.array(
		fc.record({
			fault: fc.constantFrom(...faults),
			times,
			skip: fc.integer({ min: 0, max: 3 }),
		}),
		{ maxLength: 3 },
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
	/** How often the user presses Retry in the list of executions, while they fail. */
	retries: fc.integer({ min: 0, max: 2 }),
	/** Stop is pressed after this many requests. */
	stopAfter: inOneOfFour(fc.integer({ min: 1, max: 4 })),
	/** n8n is killed in the first execution. */
	kill: inOneOfFour(kills),
	/** Each item has an Order Key, and everything is executed again at the end. */
	hasKey: fc.boolean(),
	maxOrders: inOneOfFour(fc.integer({ min: 1, max: 3 })),
	/** The limit is on the cost of that many orders, not on their number. */
	limitsCost: fc.boolean(),
	/** Each try words its prompts differently, as with a model or the time of day. */
	isReworded: inOneOfFour(fc.constant(true)),
	/** n8n's store keeps hardly more than the list has. */
	isStoreSmall: inOneOfFour(fc.constant(true)),
	/** A call of n8n's store fails in the first execution. */
	failing: inOneOfFour(calls),
	/** A preview of the list comes first, and its n8n is killed at this call of n8n's store. */
	previewKill: inOneOfFour(calls),
});

/** Scenarios in which this operation meets this fault, and anything else may vary. */
export const scenariosOf = (operation: Paid, fault: FaultAction) =>
	fc.tuple(scenarios, times).map(([given, often]): Scenario => {
		const faults = [{ fault, times: often, skip: 0 }, ...given.faults];
		return { ...given, operation, faults, isDown: given.isDown && given.hasBackup };
	});

export type Scenario = typeof scenarios extends fc.Arbitrary<infer T> ? T : never;

/** Whether the operation offers an Order Key and a limit. */
export const isOrder = (operation: Paid): boolean =>
	makesJob(operation) || operation.route === 'imageGenerate';

/** Whether the operation makes a job, so that the user decides what to do without a response. */
export const makesJob = ({ route }: Paid): boolean => endpoints[route].cost === 'job';
