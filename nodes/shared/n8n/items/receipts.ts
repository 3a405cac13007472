import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayError, type Failure } from '../../gateway/errors/gatewayError';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { isRunByAgent } from '../agent/tool';
import { hashOf } from './identity';
import { failureOf, outputsOf, type CheckedItem } from './item';
import { nodeMemory, runIndexOf } from '../execution/memory';
import type { ItemOutput } from './work';

/** What an earlier try knows about one item's request. */
export type Receipt = Paid | Partial | Ambiguous;

interface Paid {
	/** The result of the request. */
	result: object;
	/** The outputs for the next node. Files among them belong to the execution that stored them. */
	outputs?: ItemOutput[];
	job?: JobSummary;
	/** Remarks beside the outputs. */
	hints: string[];
}

/** Of an item that takes several requests: what those have given that were answered. */
interface Partial {
	parts: object[];
}

interface Ambiguous {
	/** How the request failed; it was sent, and its outcome is unknown. */
	lost: Failure;
}

/** The receipt for the next try; undefined when the item is certainly not paid for. */
export function receiptOf(item: CheckedItem): Receipt | undefined {
	const { result, parts, job, hints, lost } = item;
	if (result !== undefined) return { result, outputs: outputsOf(item), job, hints };
	// The service may have carried out and billed the request although it failed here.
	const error = failureOf(item)?.error;
	const isAmbiguous = error instanceof GatewayError && error.failure.billed !== 'no';
	if (isAmbiguous) return { lost: error.failure };
	if (lost) return { lost };
	return parts.length > 0 ? { parts } : undefined;
}

const toolRun = 'tool';

type StoredReceipt = Receipt & { execution: string; parameters: string };

/**
 * The receipts of jobs in stopped executions. n8n stores such an execution as it was before the running node
 * began, and some nodes that had ended may be missing too: its Retry runs them all again, and finds no receipts in
 * their contexts. These last as long as the process, and only Retry reads them.
 */
const stoppedReceipts = new Map<string, StoredReceipt>();
const maxStoppedReceipts = 1000;

/**
 * What a failing node keeps for its next try. n8n's Retry On Fail and the Retry of a failed execution run the
 * whole node again for all items. n8n stores the node's context with the execution, so paid items are found here
 * instead of being paid for again. Keyed by run, item and request, so that an item changed before the retry is sent.
 */
export class Receipts {
	/** Whether all is known that earlier tries have paid for. What cannot be read stays as it is. */
	readonly isReadable: boolean;
	private readonly stored: Record<string, StoredReceipt>;
	private readonly run: string;
	private readonly execution: string;
	private readonly isRetry: boolean;
	private readonly node: string;
	/** Of the node as the user wrote it, expressions unevaluated. */
	private readonly parameters: string;
	/** What is stored, by run and item. */
	private byPlace?: Map<string, StoredReceipt>;

	constructor(context: IExecuteFunctions) {
		const own = nodeMemory(context);
		this.isReadable = own !== undefined;
		const memory: { receipts?: Record<string, StoredReceipt> } = own ?? {};
		this.stored = memory.receipts ??= {};
		// When an agent runs the node, n8n counts each try as a separate run.
		this.run = isRunByAgent(context) ? toolRun : String(runIndexOf(context));
		this.execution = context.getExecutionId();
		this.isRetry = context.getMode() === 'retry';
		this.parameters = hashOf(context.getNode().parameters);
		this.node = `${context.getWorkflow().id}:${context.getNode().id}`;
	}

	find(item: CheckedItem): Receipt | undefined {
		const key = this.key(item);
		const ownReceipt = this.stored[key] ?? this.findReworded(item);
		// An outcome that was unknown at the first retry may be known by now.
		const mayBeUpdated = this.isRetry && (ownReceipt === undefined || 'lost' in ownReceipt);
		const stored =
			(mayBeUpdated ? stoppedReceipts.get(`${this.node}:${key}`) : undefined) ?? ownReceipt;
		if (stored === undefined || !('result' in stored) || stored.execution === this.execution)
			return stored;
		const hasFiles = stored.outputs?.some(({ binary }) => binary !== undefined);
		return hasFiles ? { ...stored, outputs: undefined } : stored;
	}

	/** Of the same item, which nobody has changed: the time of day or chance has worded it anew. */
	private findReworded({ index }: CheckedItem): StoredReceipt | undefined {
		if (this.run === toolRun) return undefined;
		this.byPlace ??= new Map(
			Object.entries(this.stored).map(([key, receipt]) => [
				key.slice(0, key.lastIndexOf(':')),
				receipt,
			]),
		);
		const receipt = this.byPlace.get(`${this.run}:${index}`);
		const isSame = receipt?.parameters === this.parameters && !('parts' in receipt);
		return isSame ? receipt : undefined;
	}

	keep(item: CheckedItem, receipt: Receipt): void {
		this.stored[this.key(item)] = {
			...receipt,
			execution: this.execution,
			parameters: this.parameters,
		};
	}

	/** Saves a receipt for the Retry of a stopped execution; without one, deletes what was saved before. */
	saveForRetry(item: CheckedItem, receipt?: Receipt): void {
		const key = `${this.node}:${this.key(item)}`;
		stoppedReceipts.delete(key);
		if (receipt)
			stoppedReceipts.set(key, {
				...receipt,
				execution: this.execution,
				parameters: this.parameters,
			});
		const [oldest] = stoppedReceipts.keys();
		if (stoppedReceipts.size > maxStoppedReceipts) stoppedReceipts.delete(oldest);
	}

	/** Deletes the receipts of this run, which succeeded; of a tool, whose calls share a run, those of these items. */
	clear(items: CheckedItem[]): void {
		const keys =
			this.run === toolRun
				? items.map((item) => this.key(item))
				: Object.keys(this.stored).filter((key) => key.startsWith(`${this.run}:`));
		for (const key of keys) delete this.stored[key];
	}

	private key({ index, identity }: CheckedItem): string {
		return `${this.run}:${index}:${identity}`;
	}
}
