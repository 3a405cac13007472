import { print } from '../report';
import { inTurns as takeTurns, median } from '../statistics';
import { PublishedWay, type Measured, type Way } from './measure';
import type { Setup } from './work';

/** One way, and all its runs. */
export interface Row {
	way: string;
	runs: Measured[];
}

/** The median of a row. */
export const medianOf = ({ runs }: Row, of: (run: Measured) => number): number =>
	median(runs.map(of));

/** The median time of the first row, divided by that of the other. */
export const ratio = (one: Row, other: Row): number =>
	medianOf(one, ({ seconds }) => seconds) / medianOf(other, ({ seconds }) => seconds);

/** The work of all ways, and how its result is checked. */
interface Task {
	texts: string[];
	rounds: number;
	/** How many of the texts each way processes first without being measured; by default none. */
	warmUp?: number;
	/** @throws Error when a run did not do its work for this many items, or was charged twice */
	check(measured: Measured, count: number): void | Promise<void>;
}

/** Runs all ways alternately. */
export async function inTurns(setup: Setup, ways: Way[], task: Task): Promise<Row[]> {
	const { texts, rounds, warmUp = 0, check } = task;
	const published = await Promise.all(
		ways.map(async (way) => await PublishedWay.publish(setup, way)),
	);
	const run = async (index: number, given: string[]) => {
		const measured = await published[index].run(given);
		requireSuccess(ways[index], measured);
		await check(measured, given.length);
		return measured;
	};
	if (warmUp > 0) for (const index of ways.keys()) await run(index, texts.slice(0, warmUp));
	const runs = await takeTurns(
		Object.fromEntries(
			ways.map(({ name }, index) => [
				index,
				async () => {
					const measured = await run(index, texts);
					print(`  ${name}: ${measured.seconds.toFixed(2)} s`);
					return measured;
				},
			]),
		),
		{ rounds },
	);
	return ways.map(({ name }, index) => ({ way: name, runs: runs[index] }));
}

export function requireSuccess({ name }: Way, { execution }: Measured): void {
	const { status, data } = execution;
	if (status === 'success') return;
	throw new Error(`${name} ended as ${status}: ${data.resultData.error?.message}`);
}

/** @throws Error when an item is missing, or was not charged exactly once */
export function requireOneEach({ items, charges }: Measured, wanted: number): void {
	if (items.length !== wanted) throw new Error(`${wanted} items gave ${items.length}`);
	if (charges !== wanted) throw new Error(`${wanted} items were charged ${charges} times`);
}
