/** Runs in its own process: n8n's engine, which runs one node with many items. */
import { nodeTypes } from '../../test/harness';
import { memory, resetPeak } from '../n8n/processUsage';
import {
	chat,
	embedding,
	httpRequestChat,
	httpRequestEmbedding,
	runItems,
	type Target,
} from '../requests/nodes';
import { LoopWatch } from './loopWatch';

const nodes = {
	chats: () => chat(),
	texts: () => embedding(),
	httpRequestChats: httpRequestChat,
	httpRequestTexts: httpRequestEmbedding,
};
export type NodeName = keyof typeof nodes;

/** The cost of one run of a node. Memory in bytes, times in milliseconds. */
export interface ItemsRun {
	/** From the start of the node's own work to its end. */
	milliseconds: number;
	/** The longest block of the event loop during this time, and in the whole execution. */
	block: number;
	wholeBlock: number;
	/** Peak memory of the process minus its memory before. */
	growth: number;
	/** Memory that a garbage collection at the end of the node leaves: its output. */
	held: number;
	/** The maximum that garbage collections left while the node ran. Measured only on request, because it takes time. */
	maxHeld: number;
}

const heldMilliseconds = 1000;

/** @param measuresMaxHeld collects garbage every second, which makes the times useless */
export async function serve(
	name: NodeName,
	items: number,
	{ target, measuresMaxHeld }: { target: Target; measuresMaxHeld: boolean },
): Promise<ItemsRun> {
	const node = nodes[name](target);
	await runItems(node, { target, items: 200 });
	const collected = () => {
		globalThis.gc?.();
		return process.memoryUsage().heapUsed;
	};
	const run: ItemsRun = {
		milliseconds: 0,
		block: 0,
		wholeBlock: 0,
		growth: 0,
		held: 0,
		maxHeld: 0,
	};
	const type = nodeTypes.getByNameAndVersion(node.type);
	const { execute } = type;
	type.execute = async function (...args) {
		const before = { held: collected(), size: memory(process.pid).now };
		resetPeak(process.pid);
		let maxHeld = 0;
		const sample = () => (maxHeld = Math.max(maxHeld, collected()));
		const timer = measuresMaxHeld ? setInterval(sample, heldMilliseconds) : undefined;
		const watch = new LoopWatch();
		const started = performance.now();
		const output = await execute?.apply(this, args);
		run.milliseconds = performance.now() - started;
		run.block = watch.end();
		clearInterval(timer);
		run.growth = memory(process.pid).peak - before.size;
		run.held = collected() - before.held;
		run.maxHeld = Math.max(run.held, maxHeld - before.held);
		return output ?? [];
	};
	const whole = new LoopWatch();
	await runItems(node, { target, items });
	run.wholeBlock = whole.end();
	return run;
}
