import type { IExecuteFunctions } from 'n8n-workflow';
import { isTool } from '../agent/tool';
import { hashOf } from './identity';
import { nodeMemory, runIndexOf } from '../execution/memory';

/** What n8n stores with the execution about the runs of this node. */
interface RunCount {
	execution: string;
	/** n8n's index of the run under way. */
	index: number;
	/** How many runs came before it. */
	number: number;
	/** Whether it has failed, so that n8n keeps its receipts. */
	hasReceipts?: true;
}

/**
 * Identifies each order of one run of the node. The same order has the same ID in every try of an execution and in
 * all its Retries, and another one in any other execution, in the next run of a loop, and for a changed request.
 * n8n 1 does not mark an execution and its Retries: there, the ID is the same within the execution only.
 */
export class OrderIds {
	private readonly origin: string;
	private readonly run: RunCount;
	/** How often each request has come up in this run. */
	private readonly counts = new Map<string, number>();

	constructor(context: IExecuteFunctions) {
		this.origin = markOf(context) ?? context.getExecutionId();
		this.run = runOf(context);
	}

	/**
	 * Of the next item. Equal requests are counted instead of their places in the list: a Retry that fetches the list
	 * anew may find them at other places.
	 * @param identity what identifies the request across tries
	 */
	next(identity: unknown): string {
		const request = hashOf(identity);
		const count = this.counts.get(request) ?? 0;
		this.counts.set(request, count + 1);
		return hashOf([this.origin, this.run.number, request, count]);
	}

	get hasReceipts(): boolean {
		return this.run.hasReceipts === true;
	}

	/** Notes that n8n keeps what this run has sent. */
	keepReceipts(): void {
		this.run.hasReceipts = true;
	}

	/** Of whatever is ordered at this place of the run's list. */
	ofPlace(place: number): string {
		return hashOf([this.origin, this.run.number, place]);
	}
}

/** The token that n8n gives an execution for its resume links. It is stored from the start, and a Retry has it too. */
function markOf(context: IExecuteFunctions): string | undefined {
	const link = String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0));
	return /[?&]signature=([^&#]+)/.exec(link)?.[1];
}

/**
 * How many runs of the node came before this one. n8n's own index does not tell after a crash, for which n8n makes
 * up a first run of nodes that had begun.
 */
function runOf(context: IExecuteFunctions): RunCount {
	const memory: { runs?: RunCount } = nodeMemory(context) ?? {};
	const index = runIndexOf(context);
	const execution = context.getExecutionId();
	const { runs = { execution, index, number: 0 } } = memory;
	// In a Retry, an agent calls its tools from the first one on.
	const beginsAnew = isTool(context.getNode()) && runs.execution !== execution;
	if (beginsAnew) memory.runs = { execution, index, number: 0 };
	else memory.runs = runs.index === index ? runs : { execution, index, number: runs.number + 1 };
	return memory.runs;
}
