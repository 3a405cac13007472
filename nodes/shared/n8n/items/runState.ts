import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayError, stopped } from '../../service/errors/gatewayError';
import { outputFailed } from '../../service/errors/jobErrors';
import type { JobSummary } from '../../service/errors/jobSummary';
import type { Cost } from '../../service/protocol/endpoints';
import { EventLoopYielder } from '../client/eventLoopYielder';
import type { N8nGateway } from '../client/gateway';
import { stopSignalOf } from '../client/httpClient';
import { messageOf } from '../errors/errorRecord';
import { highlightJob, StoredJobs } from '../execution/memory';
import { NodeLog } from '../log/nodeLog';
import type { Ledger } from '../orders/ledger';
import { Item } from './item';
import type { ItemRun, Reading } from './work';

/** One run of the node, which all steps of its loop share. */
export class RunState<Work extends Reading = Reading> {
	readonly items: readonly Item[];
	readonly cost: Cost;
	/** In the order of time: the first is the cause of the others. */
	readonly failures: Array<{ item: number; error: unknown }> = [];
	/** Hints about all items together. */
	readonly notes = new Set<string>();
	/** Aborts when the user presses Stop. */
	readonly stop?: AbortSignal;
	readonly yielder = new EventLoopYielder();
	/** Silent until the credential is read. */
	log: NodeLog;
	/** Undefined where nothing is paid for. */
	ledger?: Ledger;
	/** Aborts requests that are not sent yet, when the node is about to fail. */
	private readonly closer = new AbortController();
	readonly closing = this.closer.signal;
	/** Each aborts some of the requests in flight. */
	private readonly inFlight = new Set<AbortController>();
	private isAborted = false;

	constructor(
		readonly context: IExecuteFunctions,
		readonly work: Work,
	) {
		this.items = context.getInputData().map((_, index) => new Item(index));
		this.cost = work.endpoint.cost;
		this.stop = stopSignalOf(context);
		this.log = new NodeLog(context);
	}

	get isStopped(): boolean {
		return this.stop?.aborted ?? false;
	}

	/** Whether the node will fail, because an item has failed and it does not continue on fail. */
	get isFailing(): boolean {
		return this.failures.length > 0 && !this.context.continueOnFail();
	}

	/** @returns what to show in place of the item, or of one output, that failed */
	fail({ index, job }: Item, cause: unknown): { error: unknown } {
		const error = job ? this.about(job, cause) : cause;
		// Failures after an abort or Stop are only its consequences.
		const isUnsent =
			error instanceof GatewayError && error.failure.isStopped && error.failure.billed === 'no';
		if (!this.isAborted && !this.isStopped && !isUnsent) this.failures.push({ item: index, error });
		if (this.isFailing) this.closer.abort(stopped());
		if (this.isFailing && this.cost === 'read' && !this.isAborted) this.abort();
		return { error };
	}

	/** Adds the job to an error of any kind, so that no order loses it. */
	private about(job: JobSummary, cause: unknown): unknown {
		if (cause instanceof GatewayError) return cause.about(job);
		return this.cost === 'read' ? cause : outputFailed(job, messageOf(cause));
	}

	abort(): void {
		this.isAborted = true;
		for (const controller of this.inFlight) controller.abort(stopped());
	}

	/** Gives the work a gateway whose requests are aborted with the run. */
	async abortable<T>(gateway: N8nGateway, work: (gateway: N8nGateway) => Promise<T>): Promise<T> {
		// Node.js warns when one signal has many listeners.
		const controller = new AbortController();
		this.inFlight.add(controller);
		try {
			return await work(gateway.with({ signal: controller.signal }));
		} finally {
			this.inFlight.delete(controller);
		}
	}

	/** The items that are neither ended nor only previewed. */
	get open(): Item[] {
		return this.items.filter(({ outcome, forecast }) => !outcome && !forecast);
	}

	itemRun(item: Item, gateway: N8nGateway): ItemRun {
		const { context } = this;
		return {
			context,
			gateway,
			item: item.index,
			sending: item.sending,
			parts: item.parts,
			reportJob: (job) => {
				if (this.cost !== 'read') {
					new StoredJobs(context).jobCreated();
					highlightJob(context, job);
				}
				item.job = job;
			},
			hint: (message) => item.hint(message),
			note: (message) => this.notes.add(message),
		};
	}
}
