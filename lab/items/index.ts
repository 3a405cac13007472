import path from 'node:path';
import { inProcess, withProcess, type Script } from '../process';
import { atMost, type Figure } from '../report';
import type { Target } from '../requests/nodes';
import type { ItemsRun, NodeName, serve as run } from './engine';
import type { serve } from './service';

const few = 2_000;
const many = 20_000;
/** Time or memory per item with many items, relative to few. */
const maxPerItem = 1.5;
/** In milliseconds. */
const maxBlock = 50;
/** Relative to the output alone. A ratio of 2 means that everything is in memory twice. */
const maxHeld = 2;

/** The measured work, and the same work with the HTTP Request node. */
const kinds = { chats: 'httpRequestChats', texts: 'httpRequestTexts' } as const;
type Kind = keyof typeof kinds;

const service: Script<typeof serve> = { file: path.join(__dirname, 'service.ts') };
const engine: Script<typeof run> = { file: path.join(__dirname, 'engine.ts') };

/** Measures the time and memory that many items take, and how long they block n8n's other work. */
export async function measureItems(chosen: Kind[]): Promise<Figure[]> {
	return await withProcess(service, [], async (target) => {
		const figures: Figure[] = [];
		for (const kind of chosen) figures.push(...(await measureKind(kind, target)));
		return figures;
	});
}

async function measureKind(ours: Kind, target: Target): Promise<Figure[]> {
	const measure = async (name: NodeName, items: number, measuresMaxHeld: boolean) =>
		await inProcess(engine, [name, items, { target, measuresMaxHeld }]);
	const small = await measure(ours, few, false);
	const large = await measure(ours, many, false);
	const smallHeld = await measure(ours, few, true);
	const largeHeld = await measure(ours, many, true);
	const other = await measure(kinds[ours], few, false);

	const time = perItem(large.milliseconds, small.milliseconds);
	const memory = perItem(largeHeld.maxHeld, smallHeld.maxHeld);
	const timesOutput = largeHeld.maxHeld / largeHeld.held;
	/** Shows a run with many items, and one with few. */
	const both = (shown: (run: ItemsRun) => string, [one, another] = [large, small]) =>
		`${shown(one)} (${grouped(few)}: ${shown(another)})`;
	return [
		{ figure: `${grouped(many)} ${ours}: time`, value: both(seconds) },
		atMost('  time per item: with many items / with few', time, maxPerItem, { digits: 2 }),
		{
			figure: '  memory in use, maximum',
			value: both((run) => megabytes(run.maxHeld), [largeHeld, smallHeld]),
		},
		atMost('  memory in use per item: with many items / with few', memory, maxPerItem, {
			digits: 2,
		}),
		atMost('  memory in use / the output alone', timesOutput, maxHeld, { digits: 2 }),
		{
			figure: '  growth of the process (RSS)',
			value: both((run) => megabytes(run.growth)),
		},
		atMost('  longest block of the event loop, by the node', large.block, maxBlock, {
			unit: 'ms',
			value: both((run) => milliseconds(run.block)),
		}),
		{
			figure: '    in the whole execution, by n8n',
			value: both((run) => milliseconds(run.wholeBlock)),
		},
		{
			figure: `  HTTP Request node, ${grouped(few)}: time, growth`,
			value: `${seconds(other)}, ${megabytes(other.growth)}`,
		},
		{
			figure: '    longest block, by the node / whole',
			value: `${milliseconds(other.block)} / ${milliseconds(other.wholeBlock)}`,
		},
	];
}

const perItem = (large: number, small: number) => large / many / (small / few);

const grouped = (count: number) => count.toLocaleString('en-US');
const seconds = (run: ItemsRun) => `${(run.milliseconds / 1000).toFixed(1)} s`;
const milliseconds = (value: number) => `${value.toFixed(0)} ms`;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
