import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayError, stopped } from '../../gateway/errors/gatewayError';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import type { Cost } from '../../gateway/protocol/endpoints';
import type { N8nGateway } from '../client/gateway';
import { stopSignalOf } from '../client/httpClient';
import { highlightJob, StoredJobs } from '../execution/memory';
import { NodeLog } from '../log/nodeLog';
import { EventLoopYielder } from '../client/eventLoopYielder';
import type { Failure, Item } from './item';
import type { DeliveringWork, ItemRun } from './work';

/** What the steps of one run of the node share: the items, and whether the run continues. */
export class RunState {
	readonly items: Item[];
	readonly cost: Cost;
	/** In the order in which they happened: the first is the cause of the others. */
	readonly failures: Array<{ item: number; error: unknown }> = [];
	/** Jobs that earlier tries have created and that belong to none of the items. */
	otherJobs: readonly JobSummary[] = [];
	/** Aborts when the user presses Stop. */
	readonly stop?: AbortSignal;
	readonly yielder = new EventLoopYielder();
	/** Silent until the credential is read. */
	log: NodeLog;
	private readonly continues: boolean;
	/** Aborts requests that are not sent yet when the node is about to fail. */
	private readonly closer = new AbortController();
	/** Whether the requests in flight have been aborted. */
	private isAborted = false;

	constructor(
		readonly context: IExecuteFunctions,
		readonly work: DeliveringWork,
	) {
		this.items = context.getInputData().map((_, index) => ({ index, hints: [], parts: [] }));
		this.cost = work.endpoint.cost;
		this.stop = stopSignalOf(context);
		this.continues = context.continueOnFail();
		this.log = new NodeLog(context);
	}

	get closing(): AbortSignal {
		return this.closer.signal;
	}

	get isStopped(): boolean {
		return this.stop?.aborted ?? false;
	}

	/** Whether the node will fail, because an item has failed and it does not continue on fail. */
	get isFailing(): boolean {
		return this.failures.length > 0 && !this.continues;
	}

	fail(item: Item, cause: unknown): void {
		item.outcome = [this.recordFailure(item, cause)];
	}

	/** @returns the failure to show in place of the item, or of its one output, that failed */
	recordFailure({ index, job }: Item, cause: unknown): Failure {
		const error = job && cause instanceof GatewayError ? cause.about(job) : cause;
		// Failures after an abort or Stop are only its consequences.
		const isUnsent =
			error instanceof GatewayError && error.failure.isStopped && error.failure.billed === 'no';
		if (!this.isAborted && !this.isStopped && !isUnsent) this.failures.push({ item: index, error });
		if (this.isFailing) this.closer.abort(stopped());
		if (this.isFailing && this.cost === 'read' && !this.isAborted) this.abort();
		return { error };
	}

	/** Aborts the requests in flight. */
	abort(): void {
		this.isAborted = true;
		for (const { abortController } of this.items) abortController?.abort(stopped());
	}

	/** Adds a hint about one item, which is shown with the node's output. */
	hint({ hints }: Item, message: string): void {
		// A reused result is delivered again, which repeats the hints that are stored with it.
		if (!hints.includes(message)) hints.push(message);
	}

	/** Shows each hint once, even if it is about many items: the editor could not show thousands. */
	showHints(): void {
		const items = new Map<string, number[]>();
		for (const { index, hints } of this.items) {
			for (const hint of hints) {
				const indices = items.get(hint);
				if (indices) indices.push(index);
				else items.set(hint, [index]);
			}
		}
		for (const [hint, indices] of items) {
			const message = this.items.length === 1 ? hint : `${describeItems(indices)}: ${hint}`;
			this.context.addExecutionHints({ message, location: 'outputPane' });
		}
	}

	/** What the operation gets for one item. */
	itemRun(item: Item, gateway: N8nGateway): ItemRun {
		const { context, items, log } = this;
		return {
			context,
			gateway,
			log,
			item: item.index,
			count: items.length,
			parts: item.parts,
			reportJob: (job) => {
				if (this.cost !== 'read') {
					new StoredJobs(context).jobCreated();
					highlightJob(context, job);
				}
				item.job = job;
			},
			hint: (message) => this.hint(item, message),
		};
	}
}

/** Maximum number of items that a hint names. */
const maxNamed = 10;

function describeItems(indices: number[]): string {
	if (indices.length === 1) return `Item ${indices[0]}`;
	const more = indices.length - maxNamed;
	return `Items ${indices.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
