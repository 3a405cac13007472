import { createHash } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { ErrorRecord, JobNote } from '../gateway/errors';
import type { ItemOutput } from './operation';

/** What is known of one item's request from an earlier try. */
export interface Receipt {
	/** What its answer gave: paid for. */
	made?: unknown;
	/** What went on to the next node. Files among it belong to the execution that stored them. */
	outputs?: ItemOutput[];
	job?: JobNote;
	/** Remarks beside the outputs. */
	hints?: string[];
	/** It was sent, and what became of it is not known. */
	lost?: ErrorRecord;
}

const toolRun = 'tool';

interface Kept extends Receipt {
	execution: string;
}

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

	constructor(context: IExecuteFunctions) {
		const memory = context.getContext('node') as { receipts?: Record<string, Kept> };
		this.kept = memory.receipts ??= {};
		// n8n counts each try of an agent's tool as a run of its own. Older versions cannot tell a tool.
		const isTool = typeof context.isToolExecution === 'function' && context.isToolExecution();
		this.run = isTool ? toolRun : String(context.evaluateExpression('{{ $runIndex }}', 0));
		this.execution = context.getExecutionId();
	}

	find(item: number, request: unknown): Receipt | undefined {
		const kept = this.kept[this.key(item, request)];
		const hasFiles = kept?.outputs?.some(({ binary }) => binary !== undefined);
		return hasFiles && kept.execution !== this.execution ? { ...kept, outputs: undefined } : kept;
	}

	keep(item: number, request: unknown, receipt: Receipt): void {
		this.kept[this.key(item, request)] = { ...receipt, execution: this.execution };
	}

	/** Forgets this run of the node, which succeeded; of a tool, whose calls share one, these requests. */
	clear(requests: Array<[item: number, request: unknown]>): void {
		const own =
			this.run === toolRun
				? requests.map(([item, request]) => this.key(item, request))
				: Object.keys(this.kept).filter((key) => key.startsWith(`${this.run}:`));
		for (const key of own) delete this.kept[key];
	}

	private key(item: number, request: unknown): string {
		const hash = createHash('sha256').update(JSON.stringify(request)).digest('hex');
		return `${this.run}:${item}:${hash}`;
	}
}
