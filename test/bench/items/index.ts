import path from 'node:path';
import { withProcess } from '../helperProcess';
import type { Figure } from '../report';
import type { Target } from '../requests/nodes';
import type { ItemsRun, NodeName } from './engine';

const few = 2_000;
const many = 20_000;
/** Of an item among many, compared with one among few. */
const mostOfItem = 1.5;
/** In milliseconds. */
const mostBlock = 50;
/** Of the output alone: as much again would be held twice. */
const mostHeld = 2;

/** What is measured, and the same by the HTTP Request node. */
const kinds = [
	['chats', 'httpRequestChats'],
	['texts', 'httpRequestTexts'],
] as const;

/** Measures what many items take of time and memory, and for how long they keep others waiting. */
export async function benchItems(): Promise<Figure[]> {
	return await withProcess({ script: script('service') }, async (target: Target) => {
		const figures: Figure[] = [];
		for (const [ours, theirs] of kinds) figures.push(...(await benchKind(target, ours, theirs)));
		return figures;
	});
}

const script = (name: string) => path.join(__dirname, `${name}.ts`);

async function benchKind(target: Target, ours: NodeName, theirs: NodeName): Promise<Figure[]> {
	const measure = async (name: NodeName, items: number, purpose: 'time' | 'held') => {
		const args = [name, String(items), JSON.stringify(target), purpose];
		return await withProcess({ script: script('engine'), args }, async (run: ItemsRun) => run);
	};
	const small = await measure(ours, few, 'time');
	const large = await measure(ours, many, 'time');
	const smallHeld = await measure(ours, few, 'held');
	const largeHeld = await measure(ours, many, 'held');
	const other = await measure(theirs, few, 'time');

	const time = ofItem(large.milliseconds, small.milliseconds);
	const memory = ofItem(largeHeld.mostHeld, smallHeld.mostHeld);
	const timesOutput = largeHeld.mostHeld / largeHeld.held;
	return [
		{
			figure: `${grouped(many)} ${ours}: time`,
			value: `${seconds(large)} (${grouped(few)}: ${seconds(small)})`,
		},
		{
			figure: '  an item: time, among many / among few',
			value: time.toFixed(2),
			goal: `at most ${mostOfItem}`,
			met: time <= mostOfItem,
		},
		{
			figure: '  memory in use, at its most',
			value: `${megabytes(largeHeld.mostHeld)} (${grouped(few)}: ${megabytes(smallHeld.mostHeld)})`,
		},
		{
			figure: '  an item: memory in use, among many / among few',
			value: memory.toFixed(2),
			goal: `at most ${mostOfItem}`,
			met: memory <= mostOfItem,
		},
		{
			figure: '  memory in use / the output alone',
			value: timesOutput.toFixed(2),
			goal: `below ${mostHeld}`,
			met: timesOutput < mostHeld,
		},
		{
			figure: '  growth of the process (RSS)',
			value: `${megabytes(large.growth)} (${grouped(few)}: ${megabytes(small.growth)})`,
		},
		{
			figure: '  longest block of the event loop, by the node',
			value: `${milliseconds(large.block)} (${grouped(few)}: ${milliseconds(small.block)})`,
			goal: `at most ${mostBlock} ms`,
			met: large.block <= mostBlock,
		},
		{
			figure: '    in the whole execution, by n8n',
			value: `${milliseconds(large.wholeBlock)} (${grouped(few)}: ${milliseconds(small.wholeBlock)})`,
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

const ofItem = (large: number, small: number) => large / many / (small / few);

const grouped = (count: number) => count.toLocaleString('en-US');
const seconds = (run: ItemsRun) => `${(run.milliseconds / 1000).toFixed(1)} s`;
const milliseconds = (value: number) => `${value.toFixed(0)} ms`;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
