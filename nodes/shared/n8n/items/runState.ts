import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayError, stopped } from '../../gateway/errors/gatewayError';
import { jobName } from '../../gateway/errors/jobSummary';
import type { N8nGateway } from '../client/gateway';
import type { Cost } from '../../gateway/protocol/endpoints';
import { stopSignalOf } from '../client/httpClient';
import type { Failure, Item } from './item';
import { noteOrder } from './memory';
import type { DeliveringWork, ItemRun } from './work';

/** What the steps of one run of the node share: the items, and whether the run goes on. */
export class RunState {
	readonly items: Item[];
	readonly cost: Cost;
	/** In the order they happened: the first is the cause of what follows. */
	readonly failures: Array<{ item: number; error: unknown }> = [];
	/** Aborts when the user presses Stop. */
	readonly stop?: AbortSignal;
	private readonly continues: boolean;
	/** Whether what was under way has been given up. */
	private isAborted = false;

	constructor(
		readonly context: IExecuteFunctions,
		readonly work: DeliveringWork,
	) {
		this.items = context.getInputData().map((_, index) => ({ index, hints: [] }));
		this.cost = work.endpoint.cost;
		this.stop = stopSignalOf(context);
		this.continues = context.continueOnFail();
	}

	get isStopped(): boolean {
		return this.stop?.aborted ?? false;
	}

	/** Whether the node will fail, because an item has and it does not continue on fail. */
	get isFailing(): boolean {
		return this.failures.length > 0 && !this.continues;
	}

	fail(item: Item, cause: unknown): void {
		item.outcome = [this.noteFailure(item, cause)];
	}

	/** @returns what stands in the place of the item, or of the one output, that failed */
	noteFailure({ index, job }: Item, cause: unknown): Failure {
		const error = job && cause instanceof GatewayError ? cause.with({ job }) : cause;
		// What fails because the node has failed already is a consequence, not news.
		if (!this.isAborted && !this.isStopped) this.failures.push({ item: index, error });
		if (this.isFailing && this.cost === 'read') this.abort();
		return { error };
	}

	/** Ends what is under way. */
	abort(): void {
		this.isAborted = true;
		for (const { underWay } of this.items) underWay?.abort(stopped());
	}

	hint({ hints }: Item, message: string): void {
		// What is delivered again says again what its receipt has kept.
		if (hints.includes(message)) return;
		hints.push(message);
		this.context.addExecutionHints({ message, location: 'outputPane' });
	}

	/** What the work gets to know of an item, and may say about it. */
	itemRun(item: Item, gateway: N8nGateway): ItemRun {
		const { context, items } = this;
		return {
			context,
			gateway,
			item: item.index,
			count: items.length,
			reportJob: (job) => {
				// All that is left of a paid job when n8n is killed before it stores the node's output.
				if (this.cost !== 'read') {
					context.logger.info(`${jobName(job)} was created`);
					noteOrder(context);
				}
				item.job = job;
			},
			hint: (message) => this.hint(item, message),
		};
	}
}
