import fc from 'fast-check';
import type { INode } from 'n8n-workflow';
import type { FaultAction } from '../../gateway';
import { allEnds, moments } from '../support/http/breakingTls';
import { makesJob, operations } from './moneyScenarios';

/** The entries that a small store keeps of a node. */
export const smallStore = 1_000;

/** What may happen to an order. */
const refusals: FaultAction[] = [
	{ action: 'error', status: 400, code: 'invalid_prompt' },
	{ action: 'error', status: 429, code: 'rate_limit_exceeded' },
	{ action: 'error', status: 429, code: 'quota_exceeded' },
	{ action: 'error', status: 500, code: 'server_error' },
];
const losses: FaultAction[] = [
	...[false, true].flatMap((accepted): FaultAction[] => [
		{ action: 'reset', accepted },
		{ action: 'stall', accepted },
		{ action: 'answer', accepted, status: 502, body: '<html>Bad Gateway</html>' },
	]),
];

const faults = fc.record({
	fault: fc.oneof(
		{ arbitrary: fc.constant(refusals[0]), weight: 4 },
		{ arbitrary: fc.constantFrom(...refusals, ...losses), weight: 4 },
	),
	times: fc.integer({ min: 1, max: 3 }),
	skip: fc.integer({ min: 0, max: 2 }),
});

/** Whether certainly nothing was ordered. */
export const isRefusal = ({ fault }: { fault: FaultAction }): boolean => refusals.includes(fault);

/** The connections of the step go over TLS, and some of them break. */
const breaks = fc.record({
	version: fc.constantFrom('TLSv1.2' as const, 'TLSv1.3' as const),
	at: fc.constantFrom(...moments),
	by: fc.constantFrom(...allEnds),
	times: fc.integer({ min: 1, max: 3 }),
});

const stops = fc.record({
	/** When the execution has begun, its orders are recorded, one has arrived, or its request is over. */
	at: fc.constantFrom('begin', 'record', 'arrival', 'request'),
	/** At which of these, counted from 1. */
	times: fc.integer({ min: 1, max: 3 }),
});

/** n8n is killed, with all that it executes: once orders are recorded, one has arrived, or its request is over. */
const kills = fc.record({
	at: fc.constantFrom('record', 'arrival', 'request'),
	times: fc.integer({ min: 1, max: 4 }),
});

/** How the list has changed when an execution begins again with it, as after Stop. */
const moves = fc.record({
	by: fc.nat({ max: 2 }),
	/** Whether there is a new first item. */
	isLonger: fc.boolean(),
});

/** Present in one of this many cases. */
const oneOf = <T>(cases: number, arbitrary: fc.Arbitrary<T>) =>
	fc.oneof({ arbitrary: fc.constant(undefined), weight: cases - 1 }, { arbitrary, weight: 1 });

/** A call of n8n's store, by any execution, and whether before or after it is written. */
const calls = fc.record({
	/** Counted from 1. */
	at: fc.integer({ min: 1, max: 24 }),
	when: fc.constantFrom('before' as const, 'after' as const),
});

/** In number of orders, for costs as well. */
const limits = fc.record({
	perDay: fc.option(fc.nat({ max: 5 }), { freq: 2, nil: undefined }),
	costPerDay: oneOf(4, fc.nat({ max: 5 })),
	perExecution: oneOf(5, fc.nat({ max: 4 })),
	costPerExecution: oneOf(5, fc.nat({ max: 4 })),
	/** How they are entered: by an expression, in each item of the list, or one of two by chance. */
	form: fc.constantFrom('number', 'number', 'expression', 'item', 'chance'),
});

const noLimits: Limits = {
	...{ perDay: undefined, costPerDay: undefined },
	...{ perExecution: undefined, costPerExecution: undefined, form: 'number' },
};

/** A preview of a family's list in an execution of its own. */
const previews = fc.record({
	/** The call at which its n8n is killed. */
	kill: fc.option(calls, { freq: 4, nil: undefined }),
	/** Whether a worker of its own runs it, which has not read n8n's store yet. */
	isOfWorker: fc.boolean(),
});

/** The first execution of a family, or a Retry of one of its executions. */
const steps = fc.record({
	family: fc.nat({ max: 2 }),
	/** Which of the executions that can be retried. */
	of: fc.nat({ max: 3 }),
	faults: fc.array(faults, { maxLength: 2 }),
	stop: fc.option(stops, { freq: 2, nil: undefined }),
	kill: oneOf(5, kills),
	breaks: oneOf(5, breaks),
	/** The node after the orders fails. */
	failsLater: oneOf(3, fc.constant(true)),
	moved: oneOf(2, moves),
	/** n8n stores a stopped execution as it was at its start, or with the outputs of its nodes. */
	keepsStart: fc.boolean(),
	/** Runs at the same time as the step before. */
	isMeanwhile: fc.boolean(),
	/** A call of n8n's store fails. */
	failing: oneOf(4, calls),
	/** The limits of the node from now on. */
	limits: oneOf(3, fc.oneof(limits, fc.constant(noLimits))),
	/** Retries the execution with the workflow as it is now, instead of as it was. */
	usesSaved: fc.boolean(),
	/** It becomes the next day: before the step, or at that moment. */
	midnight: oneOf(6, fc.oneof(fc.constant('before' as const), kills)),
	/** How many entries others have added to n8n's store before. */
	added: oneOf(3, fc.nat({ max: smallStore })),
	/** Comes before the step. */
	preview: oneOf(5, previews),
});

/** Equal words lead to equal items. */
const words = fc.array(fc.constantFrom('Waves', 'Clouds', 'Rain'), { minLength: 1, maxLength: 3 });

export const jobOperations = new Map(
	operations.filter(makesJob).map((operation) => [operation.name, operation]),
);

const scenarios = fc.record({
	/** Nothing is stopped or killed, and no connection breaks. */
	isCalm: fc.boolean(),
	/** The name of an operation that makes a job. */
	operation: fc.constantFrom(...jobOperations.keys()),
	/** What each family orders: the same, or its own. */
	words: fc.oneof(
		words.map((same) => [same, same, same]),
		fc.tuple(words, words, words),
	),
	/** Each try words its prompts differently, as with a model or the time of day. */
	isReworded: fc.boolean(),
	/** The items are ordered one by one, in Loop Over Items. */
	isLoop: oneOf(3, fc.constant(true)),
	/** Each item has an Order Key, which is the same in all executions. */
	hasKey: oneOf(4, fc.constant(true)),
	/** The limits at the start. Without any, they never change. */
	limits: fc.option(limits, { freq: 2, nil: undefined }),
	/** An order whose response was lost is sent again. */
	resends: oneOf(8, fc.constant(true)),
	/** n8n's store keeps few entries. */
	isStoreSmall: oneOf(3, fc.constant(true)),
	parallel: fc.constantFrom(1, 2, 10),
	onError: fc.oneof(
		{ arbitrary: fc.constant<INode['onError']>('stopWorkflow'), weight: 3 },
		{ arbitrary: fc.constant<INode['onError']>('continueRegularOutput'), weight: 1 },
	),
	retryOnFail: fc.oneof(
		{ arbitrary: fc.constant(false), weight: 3 },
		{ arbitrary: fc.constant(true), weight: 1 },
	),
	steps: fc.array(steps, { minLength: 2, maxLength: 6 }),
});

/** Several executions of one workflow in one process, each with its Retries. */
export const families = scenarios.map((given) => ({
	...given,
	steps: given.isCalm ? given.steps.map(calmed) : given.steps,
}));

const calmed = (step: Step): Step => ({
	...step,
	stop: undefined,
	kill: undefined,
	breaks: undefined,
});

export type Families = typeof scenarios extends fc.Arbitrary<infer T> ? T : never;
export type Step = Families['steps'][number];
export type Limits = typeof limits extends fc.Arbitrary<infer T> ? T : never;
