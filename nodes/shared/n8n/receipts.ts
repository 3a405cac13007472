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
	/** It was sent, and what became of it is not known. */
	lost?: ErrorRecord;
}

interface Kept extends Receipt {
	hash: string;
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
		this.run = String(context.evaluateExpression('{{ $runIndex }}', 0));
		this.execution = context.getExecutionId();
	}

	find(item: number, request: unknown): Receipt | undefined {
		const kept = this.kept[this.key(item)];
		if (kept?.hash !== hashOf(request)) return undefined;
		const hasFiles = kept.outputs?.some(({ binary }) => binary !== undefined);
		return hasFiles && kept.execution !== this.execution ? { ...kept, outputs: undefined } : kept;
	}

	keep(item: number, request: unknown, receipt: Receipt): void {
		this.kept[this.key(item)] = { ...receipt, hash: hashOf(request), execution: this.execution };
	}

	/** Forgets this run of the node: it succeeded. */
	clear(): void {
		for (const key of Object.keys(this.kept)) {
			if (key.startsWith(`${this.run}:`)) delete this.kept[key];
		}
	}

	private key(item: number): string {
		return `${this.run}:${item}`;
	}
}

function hashOf(request: unknown): string {
	return createHash('sha256').update(JSON.stringify(request)).digest('hex');
}
