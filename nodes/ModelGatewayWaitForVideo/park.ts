import type { IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';
import { NodeConnectionTypes, NodeOperationError } from 'n8n-workflow';
import type { JobNote } from '../shared/gateway/jobNote';
import type { FinishedJob, JobMemory, JobWatch } from '../shared/gateway/waiting';
import { runItems } from '../shared/n8n/items';
import { isTool } from '../shared/n8n/toolAnswers';
import { clock, stopSignalOf } from '../shared/n8n/world';
import { wiring } from './fields';
import { hold, waitForVideo } from './waitForVideo';

/**
 * One pass of a wait that is parked between its polls. What ended leaves by the second output; what runs
 * goes round by the first one, which leads back here. When nothing ended, n8n stores the execution until the
 * next poll is due, and then hands this node's input to its first output. An item is thus either going round
 * or gone: none leaves twice.
 */
export async function park(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const reason = whyNot(context);
	if (reason !== undefined) {
		const message = `${reason}: the node waits with the execution open instead, as While Waiting: Hold does.`;
		context.addExecutionHints({ message, location: 'outputPane' });
		const outputs = await hold(context);
		return isTool(context.getNode()) ? outputs : [[], ...outputs];
	}
	refuseWrongWiring(context);

	const memory = context.getContext('node') as Memory;
	await outlastStart(context, memory);
	const pass = new ParkedPass(context, memory);
	const [ended] = await runItems(context, waitForVideo(context, pass), Infinity);
	if (ended.length === 0) await context.putExecutionToWait(new Date(pass.nextPoll));
	return [pass.stillRunning, ended];
}

/** Kept by n8n with the execution. */
interface Memory {
	/** By job, as items change their places from pass to pass. */
	jobs?: Record<string, JobMemory>;
	/** When the n8n of the last pass began, in milliseconds since 1970. */
	n8nSince?: number;
}

/**
 * As it starts, n8n takes up what is due before it looks for crashed executions, and takes for crashed what it
 * has just taken up: it reads that as it was stored, and stores it as crashed. A pass that is stored in between
 * is lost; one that is stored later stands, because n8n stores it whatever the mark, unless Stop was pressed.
 * The look comes once, before n8n answers its users: seconds after its process began, on a small machine up to
 * a minute. So what an earlier n8n has parked does not go on before the process is that old.
 */
async function outlastStart(context: IExecuteFunctions, memory: Memory): Promise<void> {
	const { timeOrigin } = performance;
	const isRestarted = (memory.n8nSince ?? timeOrigin) !== timeOrigin;
	const left = longestStart - performance.now();
	// The items' own loop tells of Stop.
	if (isRestarted && left > 0) {
		await clock.sleep(left, stopSignalOf(context)).catch(() => undefined);
	}
	memory.n8nSince = timeOrigin;
}

/** Milliseconds. */
const longestStart = 60_000;

/** What is left of a pass, and what is remembered for the next one: n8n stores it with the execution. */
export class ParkedPass {
	private readonly memories: Record<string, JobMemory>;
	/** By item. */
	private readonly running = new Map<number, JobMemory>();

	constructor(
		private readonly context: IExecuteFunctions,
		memory: Memory,
	) {
		this.memories = memory.jobs ??= {};
	}

	/** What earlier passes learned of a job; without any, its time begins to run. */
	recall(key: string, id: string, now: number): JobNote {
		return (this.memories[key] ??= { firstSeen: now, due: now, note: { id } }).note;
	}

	/** @returns undefined while the job runs */
	async poll(key: string, watch: JobWatch): Promise<FinishedJob | undefined> {
		const memory = this.memories[key];
		// Whoever waits for it again, such as a retry, begins anew.
		delete this.memories[key];
		const finished = await watch.pass(memory);
		if (finished === undefined) this.memories[key] = memory;
		return finished;
	}

	/** Lets an item go round once more. */
	keep(item: number, key: string): void {
		this.running.set(item, this.memories[key]);
	}

	/** The items as they came in: n8n has paired them with themselves. */
	get stillRunning(): INodeExecutionData[] {
		return this.context.getInputData().filter((_, item) => this.running.has(item));
	}

	/** Milliseconds since 1970. */
	get nextPoll(): number {
		return Math.min(...[...this.running.values()].map(({ due }) => due));
	}
}

function whyNot(context: IExecuteFunctions): string | undefined {
	if (isTool(context.getNode())) return 'A tool of an AI agent cannot be parked';
	const isSaved = !!context.getWorkflow().id;
	return isSaved ? undefined : 'Only a saved workflow can be parked';
}

/** The lines into an input, as n8n keeps them; `index` is the output that a line comes from. */
type Lines = Array<Array<{ node: string; index: number }> | null>;

interface SeesConnections {
	getConnections(destination: INode, type: string): Lines;
}

/** @throws NodeOperationError when what still runs would be lost, or never asked for again */
function refuseWrongWiring(context: IExecuteFunctions): void {
	const node = context.getNode();
	const seeing = context as Partial<SeesConnections>;
	// A version of n8n that does not let a node see its lines: then the panel's notice has to do.
	if (typeof seeing.getConnections !== 'function') return;

	const seen = new Set<string>();
	const upstream = [node.name];
	for (let name = upstream.pop(); name !== undefined; name = upstream.pop()) {
		const lines = seeing.getConnections({ ...node, name }, NodeConnectionTypes.Main).flat();
		for (const line of lines) {
			if (line?.node === node.name && line.index === 0) return;
			if (line === null || line.node === node.name || seen.has(line.node)) continue;
			seen.add(line.node);
			upstream.push(line.node);
		}
	}
	throw new NodeOperationError(node, 'Still Running does not lead back to this node', {
		description: `Nothing was asked, and the jobs go on at the service. ${wiring.replace(/<.*?>/g, '')} Or set While Waiting to Hold.`,
	});
}
