import type { IExecuteFunctions } from 'n8n-workflow';
import { randomFrom } from '../gateway/random';
import { JobLengths } from '../nodes/ModelGatewayWaitForVideo/jobLengths';
import { processMemory } from '../nodes/shared/n8n/execution/processMemory';
import { expectationOf, type JobWork } from '../nodes/shared/service/jobs/expectation';
import { atLeast, type Figure } from './report';

/** The orders, with the median of their lengths in seconds. */
const orders: Array<JobWork & { median: number }> = [
	{ kind: 'task', model: 'beta-2.7-r2v', seconds: 5, median: 210 },
	{ kind: 'task', model: 'beta-2.7-r2v', seconds: 10, median: 330 },
	{ kind: 'task', model: 'alpha-1.1-r2v', seconds: 5, median: 120 },
	{ kind: 'video', model: 'vid-3.1', median: 90 },
];

/** How many jobs of each kind one run has, and which of them meet a service that takes twice as long. */
const [jobs, slow] = [60, { from: 30, to: 42 }];
const runs = 200;

interface Scenario {
	name: string;
	/** Standard deviation of the logarithm of the lengths. */
	spread: number;
	hasSlowHour?: boolean;
	/** Seconds until a parked wait notices the end, at most. */
	lateness?: number;
	goal?: number;
}

const scenarios: Scenario[] = [
	{ name: 'as in the example of 3 to 4 minutes', spread: 0.11, goal: 0.8 },
	{ name: 'usual spread', spread: 0.15, goal: 0.8 },
	{ name: 'usual spread, noticed up to a minute late', spread: 0.15, lateness: 60, goal: 0.8 },
	{ name: 'usual spread, with an hour of double length', spread: 0.15, hasSlowHour: true },
	{ name: 'wide spread', spread: 0.25 },
	{ name: 'wide spread, late, with the slow hour', spread: 0.25, lateness: 60, hasSlowHour: true },
];

/** Simulates jobs of known lengths, and compares the time that was said first with the true one. */
export async function measureExpectations({ seed }: { seed: string }): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const scenario of scenarios) figures.push(...(await figuresOf(scenario, seed)));
	return figures;
}

async function figuresOf(scenario: Scenario, seed: string): Promise<Figure[]> {
	const { name, spread, hasSlowHour = false, lateness = 0, goal } = scenario;
	const random = randomFrom(`${seed} ${name}`);
	const said: boolean[] = [];
	const best: boolean[] = [];
	for (let run = 0; run < runs; run++) {
		processMemory.clear();
		const lengths = new JobLengths(withoutStore);
		for (let job = 0; job < jobs; job++) {
			const isSlow = hasSlowHour && job >= slow.from && job < slow.to;
			for (const { median, ...work } of orders) {
				const typical = median * (isSlow ? 2 : 1);
				const length = typical * Math.exp(spread * normal(random)) + lateness * random();
				if (job >= 10) {
					said.push(isNear(saidTime(expectationOf(work, lengths.like(work), 0).text), length));
					best.push(isNear(typical + lateness / 2, length));
				}
				lengths.learn(work, length);
			}
		}
	}
	const options = { value: `${percent(said)} (${percent(best)} if the median were known)` };
	const figure = `${name}: first time within 25 %`;
	const share = said.filter(Boolean).length / said.length;
	return [
		goal === undefined
			? { figure, ...options }
			: { ...atLeast(figure, share, goal, options), goal: `at least ${goal * 100} %` },
	];
}

const isNear = (time: number, length: number) => Math.abs(time - length) <= length / 4;

/** Seconds, as a user reads them. */
function saidTime(text: string): number {
	const [, count, unit] = /^About ([\d.]+) (second|minute)s? more/.exec(text) ?? [];
	return Number(count) * (unit === 'minute' ? 60 : 1);
}

const percent = (values: boolean[]) =>
	`${((100 * values.filter(Boolean).length) / values.length).toFixed(0)} %`;

/** A number of the standard normal distribution (Box-Muller). */
const normal = (random: () => number) =>
	Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** An engine that stores nothing. */
const withoutStore = {
	helpers: {},
	getWorkflow: () => ({ id: 'lab' }),
	getNode: () => ({ id: 'wait' }),
} as unknown as IExecuteFunctions;
