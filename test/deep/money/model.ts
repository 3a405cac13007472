import fc from 'fast-check';
import type { IDataObject, INode } from 'n8n-workflow';
import type { FaultAction, Route } from '../../../gateway';
import { endpoints } from '../../../nodes/shared/service/protocol/endpoints';
import { allEnds, moments as breakMoments } from '../../support/http/breakingTls';
import { byId, createReferenceVideo } from '../../support/workflows/workflows';

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
		name: 'referenceVideo.create',
		route: 'referenceVideoCreate',
		parameters: { ...createReferenceVideo().parameters, prompt: text },
	},
	{
		name: 'video.create',
		route: 'videoCreate',
		parameters: { resource: 'video', operation: 'create', model: byId('vid-3.1'), prompt: text },
	},
	{
		name: 'chat.complete',
		route: 'chat',
		parameters: { resource: 'chat', operation: 'complete', model: byId('chat-1'), messages },
	},
	{
		name: 'message.create',
		route: 'message',
		parameters: {
			resource: 'message',
			operation: 'create',
			model: byId('chat-1'),
			messages,
			maxTokens: 50,
		},
	},
	{
		name: 'image.generate',
		route: 'imageGenerate',
		parameters: {
			resource: 'image',
			operation: 'generate',
			model: byId('image-1'),
			prompt: text,
			download: false,
		},
	},
	{
		name: 'embedding.create',
		route: 'embedding',
		parameters: { resource: 'embedding', operation: 'create', model: byId('embed-1'), input: text },
	},
];

/** Whether the operation makes a job. All others are charged when their response has been sent. */
export const makesJob = ({ route }: Paid): boolean => endpoints[route].cost === 'job';

/** Whether the operation offers an Order Key and limits. */
export const isOrder = (operation: Paid): boolean =>
	makesJob(operation) || operation.route === 'imageGenerate';

/** A fault of a request that costs money, which says whether the service has certainly not accepted it. */
export type Fault = FaultAction & { isRefusal: boolean };

const refusals = (
	[
		[400, 'invalid_prompt'],
		[429, 'rate_limit_exceeded'],
		[429, 'quota_exceeded'],
		[500, 'upstream_error'],
		[500, 'server_error'],
		[503, 'unavailable'],
	] as const
).map(([status, code]): Fault => ({ action: 'error', status, code, isRefusal: true }));

const undelivered = { message: 'no', code: 'write_response_body_failed' };
const losses = [
	...[false, true].flatMap((accepted): FaultAction[] => [
		{ action: 'reset', accepted },
		{ action: 'stall', accepted },
		{ action: 'answer', accepted, status: 502, body: '<html>Bad Gateway</html>' },
		{ action: 'answer', accepted, status: 500, body: JSON.stringify({ error: undelivered }) },
		{ action: 'answer', accepted, body: '' },
		{ action: 'answer', accepted, body: '{"id":' },
	]),
	{ action: 'cut', after: '50%' } as const,
	{ action: 'cut', after: 0 } as const,
	{ action: 'freeze', after: '50%' } as const,
	{ action: 'wrongLength', by: 10 } as const,
	{ action: 'wrongLength', by: -10 } as const,
	{ action: 'headers', headers: { 'content-type': 'text/html' } } as const,
].map((fault): Fault => ({ ...fault, isRefusal: false }));

export const faults = [...refusals, ...losses];

/** Present in one of this many cases. */
const oneOf = <T>(cases: number, arbitrary: fc.Arbitrary<T>) =>
	fc.oneof({ arbitrary: fc.constant(undefined), weight: cases - 1 }, { arbitrary, weight: 1 });

const times = fc.integer({ min: 1, max: 3 });

/** When the execution has begun, its orders are recorded, one has arrived, its request is over, or all has ended. */
const moments = fc.record({
	at: fc.constantFrom('begin', 'record', 'arrival', 'request', 'end'),
	/** At which of these, counted from 1. */
	times,
});

/** A call of n8n's store, by any execution, and whether before or after it is written. */
const calls = fc.record({
	/** Counted from 1. */
	at: fc.integer({ min: 1, max: 24 }),
	when: fc.constantFrom('before' as const, 'after' as const),
});

/** In number of orders, for costs as well. */
const limits = fc.record({
	perDay: oneOf(2, fc.nat({ max: 5 })),
	costPerDay: oneOf(4, fc.nat({ max: 5 })),
	perExecution: oneOf(5, fc.nat({ max: 4 })),
	costPerExecution: oneOf(5, fc.nat({ max: 4 })),
});

/** The entries that a small store keeps of a node. */
export const smallStore = 2_000;

/** The first execution of a family, or a Retry of one of its executions. */
const steps = fc.record({
	family: fc.nat({ max: 2 }),
	/** Which of the executions that can be retried. */
	of: fc.nat({ max: 3 }),
	/** Runs at the same time as the step before, and in the same worker. */
	isMeanwhile: fc.boolean(),
	worker: fc.constantFrom(0, 0, 1),
	faults: fc.array(
		fc.record({
			fault: fc.oneof(fc.constant(refusals[0]), fc.constantFrom(...faults)),
			times,
			skip: fc.nat({ max: 2 }),
		}),
		{ maxLength: 2 },
	),
	/** The connections go over TLS, and some of them break. */
	breaks: oneOf(
		6,
		fc.record({
			version: fc.constantFrom('TLSv1.2' as const, 'TLSv1.3' as const),
			at: fc.constantFrom(...breakMoments),
			by: fc.constantFrom(...allEnds),
			times,
		}),
	),
	/** The node after the orders fails. */
	failsLater: oneOf(3, fc.constant(true)),
	stop: oneOf(3, moments),
	/** n8n stores a stopped execution as it was at its start, or with the outputs of its nodes. */
	keepsStart: fc.boolean(),
	/** n8n is killed, with all that it executes. */
	kill: oneOf(5, moments),
	/** How the list has changed when an execution begins again with it, as after Stop. */
	moved: oneOf(2, fc.record({ by: fc.nat({ max: 2 }), isLonger: fc.boolean() })),
	/** A call of n8n's store fails. */
	failing: oneOf(4, calls),
	/** How many entries others have added to n8n's store before. */
	added: oneOf(3, fc.nat({ max: 1_000 })),
	/** The limits of the node from now on. */
	limits: oneOf(3, fc.oneof(limits, fc.constant<Limits>({}))),
	/** Retries the execution with the workflow as it is now, instead of as it was. */
	usesSaved: fc.boolean(),
	/** The next day begins. */
	midnight: oneOf(6, moments),
	/** The list is previewed before, in an n8n that may be killed meanwhile. */
	preview: oneOf(5, fc.record({ worker: fc.constantFrom(0, 1), kill: oneOf(4, calls) })),
});

/** Equal words lead to equal items. */
const words = fc.array(fc.constantFrom('Waves', 'Clouds', 'Rain'), { minLength: 1, maxLength: 3 });

const anything = fc.record({
	operation: fc.oneof(
		fc.constantFrom(...operations.filter(makesJob)),
		fc.constantFrom(...operations),
	),
	/** No execution is stopped or killed, and no connection breaks. */
	isCalm: fc.boolean(),
	/** The orders of each family: the same, or its own. */
	words: fc.oneof(
		words.map((same) => [same, same, same]),
		fc.tuple(words, words, words),
	),
	/** Each try words its prompts differently, as with a model or the time of day. */
	isReworded: oneOf(3, fc.constant(true)),
	/** There are two workers. Each has a memory of its own, and both have one database. */
	isQueue: oneOf(8, fc.constant(true)),
	/** The items are ordered one by one, in Loop Over Items. */
	isLoop: oneOf(3, fc.constant(true)),
	/** Each item has an Order Key, which is the same in all executions. */
	hasKey: oneOf(3, fc.constant(true)),
	/** The limits at the start. Without any, they never change. */
	limits: oneOf(2, limits),
	/** An order whose response was lost is sent again. */
	resends: oneOf(4, fc.constant(true)),
	/** The gateway recognises an order that is sent again, by an idempotency header. */
	hasHeader: oneOf(4, fc.constant(true)),
	/** n8n's store keeps few entries. */
	isStoreSmall: oneOf(3, fc.constant(true)),
	parallel: fc.constantFrom(1, 2, 10),
	/** The credential has a backup URL, and nothing listens at its base URL. */
	backup: oneOf(4, fc.constantFrom('spare', 'needed')),
	onError: fc.constantFrom<INode['onError'][]>(
		...(['stopWorkflow', 'stopWorkflow', 'stopWorkflow'] as const),
		...(['continueRegularOutput', 'continueErrorOutput'] as const),
	),
	retryOnFail: fc.constantFrom(false, false, false, true),
	steps: fc.array(steps, { minLength: 1, maxLength: 6 }),
});

/** Up to three people start and retry one workflow, which orders a list of each. */
export const scenarios = anything.map(possible);

/** The scenarios that begin with this fault of this operation, with or without Stop. */
export const scenariosOf = (operation: Paid, fault: Fault, stop: Step['stop']) =>
	anything.map((given): Scenario => {
		const [first, second, ...others] = given.steps;
		const none = { kill: undefined, breaks: undefined, failing: undefined, preview: undefined };
		const faults = [{ fault, times: 2, skip: 0 }, ...first.faults];
		const later = second ? [{ ...second, isMeanwhile: false }, ...others] : [];
		const steps = [{ ...first, ...none, stop, faults }, ...later];
		// Two items whose words differ are not ordered with one key.
		const isReworded = given.hasKey ? undefined : given.isReworded;
		const plain = { isCalm: false, limits: undefined, isReworded };
		return possible({ ...given, ...plain, operation, steps });
	});

/** The scenario with what its operation has. */
function possible(given: Scenario): Scenario {
	const { operation, isCalm, isQueue } = given;
	return {
		...given,
		...(!isOrder(operation) && { hasKey: undefined, limits: undefined }),
		...(!makesJob(operation) && { resends: undefined, hasHeader: undefined }),
		steps: given.steps.map((step) => ({
			...step,
			...(!isQueue && { worker: 0 }),
			...(!isOrder(operation) && { preview: undefined }),
			...(isCalm && { stop: undefined, kill: undefined }),
			// A generation whose connection breaks is sent once more, and may be charged twice.
			...((isCalm || !makesJob(operation)) && { breaks: undefined }),
		})),
	};
}

export type Scenario = typeof anything extends fc.Arbitrary<infer T> ? T : never;
export type Step = Scenario['steps'][number];
export type Moment = NonNullable<Step['kill']>;
export interface Limits {
	perDay?: number;
	costPerDay?: number;
	perExecution?: number;
	costPerExecution?: number;
}
