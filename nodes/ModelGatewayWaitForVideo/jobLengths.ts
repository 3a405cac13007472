import type { IExecuteFunctions } from 'n8n-workflow';
import { lengthNames, lengthsThatCount, type JobWork } from '../shared/service/jobs/expectation';
import { limits } from '../shared/service/protocol/limits';
import { NewestEntries, remembered } from '../shared/n8n/execution/processMemory';
import { ProcessedItems, valuesOf } from '../shared/n8n/orders/store';
import { nodeIdOf } from '../shared/n8n/orders/storeCalls';

/** A length in seconds becomes a step of 6 %, from 5 seconds on: n8n's store finds only exact values. */
const [shortest, growth, longest] = [5, 1.06, limits.taskIdHours * 3600];
const stepOf = (seconds: number) =>
	Math.max(0, Math.round(Math.log(seconds / shortest) / Math.log(growth)));
const secondsOf = (step: number) => Math.round(shortest * growth ** step);
const allSteps = Array.from({ length: stepOf(longest) + 1 }, (_, step) => step);

/** Numbers of the further lengths on a step. */
const further = Array.from({ length: lengthsThatCount.newest - 1 }, (_, index) => index + 1);

/** Entries of n8n's store for a node: the lengths of three models, of one duration each. */
const maxStored = 400;

const maxNames = 50;
const maxReads = 2_000;

/** The newest steps by name. */
const known = () => remembered('lengths', () => new NewestEntries<readonly number[]>(maxNames));
const stepsOf = (name: string) => known().get(name) ?? [];
const areEnough = (steps: readonly number[]) => steps.length >= lengthsThatCount.least;

/** By node and name: whether n8n's store was read. */
const reads = () => remembered('reads of lengths', () => new NewestEntries<true>(maxReads));

/** @param number of the length among those on the same step, from 0 */
const factOf = (name: string, step: number, number: number) => `length ${name} ${step} ${number}`;

const factsOf = (name: string, steps: readonly number[]): string[] =>
	steps.map((step, index) => {
		const earlier = steps.slice(0, index).filter((other) => other === step);
		return factOf(name, step, earlier.length);
	});

/**
 * How long finished jobs took. This process knows what all its nodes have seen. n8n's store of processed items keeps
 * what this node has seen, for the next process and other workers. An error of the store is ignored: nothing is lost.
 *
 * The static data of the workflow are no place for it. n8n writes them as a whole, as they were when an execution began,
 * which would undo what others stored during a wait, such as which rows they have ordered.
 */
export class JobLengths {
	private readonly node: string;
	private readonly store: ProcessedItems;
	/** By the name of what was learned: the steps that were known before. */
	private readonly unsaved = new Map<string, readonly number[]>();

	constructor(context: IExecuteFunctions) {
		this.node = nodeIdOf(context);
		this.store = new ProcessedItems(context, 0);
	}

	/** Lengths of earlier jobs like this one in seconds, the newest last; none until there are enough. */
	like(work: JobWork): number[] {
		return (lengthNames(work).map(stepsOf).find(areEnough) ?? []).map(secondsOf);
	}

	/** Reads what n8n's store has about jobs like this one, once in each process that does not know enough. */
	async read(work: JobWork): Promise<void> {
		const names = lengthNames(work).filter(
			(name) => !areEnough(stepsOf(name)) && !reads().get(`${this.node} ${name}`),
		);
		for (const name of names) {
			reads().set(`${this.node} ${name}`, true);
			const first = await this.find(name, allSteps, [0]);
			const found = [...first, ...(await this.find(name, first, further))].sort((a, b) => a - b);
			// Several workers may have recorded more than count. They are sorted by length, so take them evenly.
			const share = Math.ceil(found.length / lengthsThatCount.newest);
			const some = found.filter((_, index) => index % share === 0);
			known().set(name, [...some, ...stepsOf(name)].slice(-lengthsThatCount.newest));
		}
	}

	/** @returns the step of each length that n8n's store has */
	private async find(name: string, steps: number[], numbers: number[]): Promise<number[]> {
		const asked = steps.flatMap((step) =>
			numbers.map((number): [string, number] => [factOf(name, step, number), step]),
		);
		const facts = await this.store.findFacts(asked.map(([fact]) => fact)).catch(() => new Set());
		return asked.flatMap(([fact, step]) => (facts.has(fact) ? step : []));
	}

	/** A job has succeeded. @param seconds since its creation; an absurd number if n8n's clock was set */
	learn(work: JobWork, seconds: number): void {
		if (!(seconds > 0 && seconds < longest)) return;
		for (const name of new Set([...lengthNames(work), ...lengthNames({ kind: work.kind })])) {
			const steps = stepsOf(name);
			if (!this.unsaved.has(name)) this.unsaved.set(name, steps);
			known().set(name, [...steps, stepOf(seconds)].slice(-lengthsThatCount.newest));
		}
	}

	/** Records in n8n's store what was learned, in one call: thousands of jobs may end together. */
	async save(): Promise<void> {
		const values: string[] = [];
		for (const [name, before] of this.unsaved) {
			const [earlier, now] = [before, stepsOf(name)].map((steps) => factsOf(name, steps));
			// This run had more names than the process keeps.
			if (now.length === 0) continue;
			this.store.removeLater(earlier.filter((fact) => !now.includes(fact)).flatMap(valuesOf));
			values.push(...now.filter((fact) => !earlier.includes(fact)).flatMap(valuesOf));
		}
		this.unsaved.clear();
		if (values.length === 0) return;
		await this.store.add(values, { trims: true, keeps: maxStored }).catch(() => undefined);
	}
}
