import { createHash } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { Failure } from '../../gateway/errors/gatewayError';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { isRunByAgent } from '../agent/tool';
import { runIndexOf } from './memory';
import type { ItemOutput } from './work';

/** What is known of one item's request from an earlier try. */
export type Receipt = Paid | Doubt;

interface Paid {
	/** What its request gave. */
	result: object;
	/** What went on to the next node. Files among it belong to the execution that stored them. */
	outputs?: ItemOutput[];
	job?: JobSummary;
	/** Remarks beside the outputs. */
	hints: string[];
}

interface Doubt {
	/** It was sent, and what became of it is not known. */
	lost: Failure;
}

/** An item, and what makes its request the same as that of another try. */
export interface SentItem {
	item: number;
	identity: unknown;
}

const toolRun = 'tool';

type Kept = Receipt & { execution: string };

/**
 * What the orders of stopped executions have left. n8n stores such an execution as it was before the node at
 * work began, and some nodes that had ended are missing too: its Retry runs them all again, and finds no receipt
 * in its context. This lasts as long as the process, and is for Retry alone.
 */
const stopped = new Map<string, Kept>();
const maxStopped = 1000;

/**
 * What a failing node leaves for its next try. n8n's Retry On Fail and the Retry of a failed execution
 * run the whole node again for all items; n8n stores the node's context with the execution, so paid
 * items are found here instead of being paid again. Keyed by run, item and request: an item that was
 * changed before the retry is sent.
 */
export class Receipts {
	private readonly kept: Record<string, Kept>;
	private readonly run: string;
	private readonly execution: string;
	private readonly isRetry: boolean;
	private readonly node: string;

	constructor(context: IExecuteFunctions) {
		const memory = context.getContext('node') as { receipts?: Record<string, Kept> };
		this.kept = memory.receipts ??= {};
		// For these, n8n counts each try as a run of its own.
		this.run = isRunByAgent(context) ? toolRun : String(runIndexOf(context));
		this.execution = context.getExecutionId();
		this.isRetry = context.getMode() === 'retry';
		this.node = `${context.getWorkflow().id}:${context.getNode().id}`;
	}

	find(request: SentItem): Receipt | undefined {
		const key = this.key(request);
		const own = this.kept[key];
		// What was in doubt when a first retry came may be known by now.
		const isOpen = this.isRetry && (own === undefined || 'lost' in own);
		const kept = (isOpen ? stopped.get(`${this.node}:${key}`) : undefined) ?? own;
		if (kept === undefined || 'lost' in kept || kept.execution === this.execution) return kept;
		const hasFiles = kept.outputs?.some(({ binary }) => binary !== undefined);
		return hasFiles ? { ...kept, outputs: undefined } : kept;
	}

	keep(request: SentItem, receipt: Receipt): void {
		this.kept[this.key(request)] = { ...receipt, execution: this.execution };
	}

	/** For the Retry of an execution that was stopped; without a receipt, forgets what was left before. */
	saveForRetry(request: SentItem, receipt?: Receipt): void {
		const key = `${this.node}:${this.key(request)}`;
		stopped.delete(key);
		if (receipt) stopped.set(key, { ...receipt, execution: this.execution });
		const [oldest] = stopped.keys();
		if (stopped.size > maxStopped) stopped.delete(oldest);
	}

	/** Forgets this run of the node, which succeeded; of a tool, whose calls share one, these requests. */
	clear(requests: SentItem[]): void {
		const own =
			this.run === toolRun
				? requests.map((request) => this.key(request))
				: Object.keys(this.kept).filter((key) => key.startsWith(`${this.run}:`));
		for (const key of own) delete this.kept[key];
	}

	private key({ item, identity }: SentItem): string {
		const hash = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
		return `${this.run}:${item}:${hash}`;
	}
}
