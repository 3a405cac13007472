import fc from 'fast-check';
import type { INode } from 'n8n-workflow';
import type { FaultAction } from '../gateway';
import { allEnds, moments } from '../support/breakingTls';
import { makesJob, operations } from './moneyScenarios';

/** What may happen to an order. The user never chooses Send Again. */
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
});

/** Equal words lead to equal items. */
const words = fc.array(fc.constantFrom('Waves', 'Clouds', 'Rain'), { minLength: 1, maxLength: 3 });

export const jobOperations = new Map(
	operations.filter(makesJob).map((operation) => [operation.name, operation]),
);

/** Several executions of one workflow in one process, each with its Retries. */
export const families = fc.record({
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
	/** Max Orders per Day, which all families share. */
	perDay: oneOf(4, fc.nat({ max: 4 })),
	/** Max Cost per Day, which all families share, in videos. */
	costPerDay: oneOf(4, fc.nat({ max: 4 })),
	/** Max Cost per Execution, in videos. */
	costPerExecution: oneOf(4, fc.nat({ max: 3 })),
	parallel: fc.constantFrom(1, 2, 10),
	onError: fc.oneof(
		{ arbitrary: fc.constant<INode['onError']>('stopWorkflow'), weight: 4 },
		{ arbitrary: fc.constant<INode['onError']>('continueRegularOutput'), weight: 1 },
	),
	retryOnFail: fc.oneof(
		{ arbitrary: fc.constant(false), weight: 3 },
		{ arbitrary: fc.constant(true), weight: 1 },
	),
	steps: fc.array(steps, { minLength: 2, maxLength: 6 }),
});

export type Families = typeof families extends fc.Arbitrary<infer T> ? T : never;
export type Step = Families['steps'][number];
