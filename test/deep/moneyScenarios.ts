import fc from 'fast-check';
import type { IDataObject, INode } from 'n8n-workflow';
import { endpoints } from '../../nodes/shared/gateway/protocol/endpoints';
import { byId, createReferenceVideo } from '../support/workflows';
import type { FaultAction, Route } from '../gateway';

/** An operation that costs money. */
interface Paid {
	name: string;
	route: Route & keyof typeof endpoints;
	parameters: IDataObject;
}

const text = '={{ $json.text }}';
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

/** What can go wrong with a paid request; each at any stage at which it can. */
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

/** After these, the answer is what it was. */
export const harmless = new Set<FaultAction['action'] | undefined>([undefined, 'headers']);

const times = fc.integer({ min: 1, max: 6 });

/** In one scenario of four. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
	fc.oneof({ arbitrary: fc.constant(undefined), weight: 3 }, { arbitrary, weight: 1 });

const kills = fc.record({
	/** Its orders were recorded, a job accepted, a request over, or all had ended but was not stored. */
	at: fc.constantFrom('record', 'job', 'request', 'end'),
	/** At the how manyth of these. */
	times: fc.integer({ min: 1, max: 3 }),
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
	/** How often the user presses Retry in the list of executions, as long as they fail. */
	retries: fc.integer({ min: 0, max: 2 }),
	/** Stop is pressed after so many requests. */
	stopAfter: seldom(fc.integer({ min: 1, max: 4 })),
	/** n8n is killed in the first execution. */
	kill: seldom(kills),
	/** Each item has an Order Key, and the whole is executed once more in the end. */
	hasKey: fc.boolean(),
	maxOrders: seldom(fc.integer({ min: 1, max: 3 })),
	/** The limit is one of the cost of so many orders. */
	limitsCost: fc.boolean(),
});

/** This operation meets this fault, whatever else is the case. */
export const scenariosOf = (operation: Paid, fault: FaultAction) =>
	fc.tuple(scenarios, times).map(([given, often]): Scenario => {
		const faults = [{ fault, times: often, skip: 0 }, ...given.faults];
		return { ...given, operation, faults, isDown: given.isDown && given.hasBackup };
	});

export type Scenario = typeof scenarios extends fc.Arbitrary<infer T> ? T : never;

/** Offers Order Key and a limit. */
export const isOrder = (operation: Paid): boolean =>
	makesJob(operation) || operation.route === 'imageGenerate';

/** The user decides about lost answers. */
export const makesJob = ({ route }: Paid): boolean => endpoints[route].cost === 'job';
