import { print } from '../report';
import { PublishedWay, type Measured, type Way } from './measure';
import type { Stage } from './stage';

/** One way, and each time that it was taken. */
export interface Row {
	way: string;
	runs: Measured[];
}

/** What a work is, and what it has to give. */
export interface Task {
	texts: string[];
	rounds: number;
	/** With how many of the texts each way is first run without being measured; none by default. */
	warmUp?: number;
	/** Throws when a run did not do its work for so many items, or was charged twice. */
	check(measured: Measured, count: number): void | Promise<void>;
}

/** Takes all ways in turn, in each round the other way round: what one leaves behind is not to meet the same one. */
export async function inTurns(stage: Stage, ways: Way[], task: Task): Promise<Row[]> {
	const { texts, rounds, warmUp = 0, check } = task;
	const rows: Row[] = ways.map(({ name }) => ({ way: name, runs: [] }));
	const published = await Promise.all(
		ways.map(async (way) => await PublishedWay.publish(stage, way)),
	);
	const run = async (index: number, given: string[]) => {
		const measured = await published[index].run(given);
		requireSuccess(ways[index], measured);
		await check(measured, given.length);
		return measured;
	};
	const order = [...published.keys()];
	if (warmUp > 0) for (const index of order) await run(index, texts.slice(0, warmUp));
	for (let round = 0; round < rounds; round++) {
		for (const index of order) {
			const measured = await run(index, texts);
			rows[index].runs.push(measured);
			print(`  ${ways[index].name}: ${measured.seconds.toFixed(2)} s`);
		}
		order.reverse();
	}
	return rows;
}

export function requireSuccess({ name }: Way, { execution }: Measured): void {
	const { status, data } = execution;
	if (status === 'success') return;
	throw new Error(`${name} ended as ${status}: ${data.resultData.error?.message}`);
}

/** Throws when not each item came out, or the charges are not one for each. */
export function requireOneEach({ items, charges }: Measured, wanted: number): void {
	if (items.length !== wanted) throw new Error(`${wanted} items gave ${items.length}`);
	if (charges !== wanted) throw new Error(`${wanted} items were charged ${charges} times`);
}
