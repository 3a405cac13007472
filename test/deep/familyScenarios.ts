import fc from 'fast-check';
import type { INode } from 'n8n-workflow';
import type { FaultAction } from '../gateway';
import { makesJob, operations } from './moneyScenarios';

/** What may become of an order. The user never chooses to send it again. */
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

const stops = fc.record({
	/** The execution has begun, its orders are recorded, one has arrived, or its request is over. */
	at: fc.constantFrom('begin', 'record', 'arrival', 'request'),
	/** At the how manyth of these. */
	times: fc.integer({ min: 1, max: 3 }),
});

/** The first execution of a family, or a Retry of one of those that it has. */
const steps = fc.record({
	family: fc.nat({ max: 2 }),
	/** Which of those that can be retried. */
	of: fc.nat({ max: 3 }),
	faults: fc.array(faults, { maxLength: 2 }),
	stop: fc.option(stops, { freq: 2, nil: undefined }),
	/** n8n keeps a stopped execution as it was at its start, or with what its nodes have left. */
	keepsStart: fc.boolean(),
	/** Runs at the same time as the step before. */
	isMeanwhile: fc.boolean(),
});

/** Equal words make equal items. */
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
	/** Each try words its prompts anew, as a model or the time of day does. */
	isReworded: fc.boolean(),
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
