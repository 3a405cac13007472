import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { AdaptiveLimit } from '../../gateway/client/adaptiveLimit';
import { badInput } from '../errors/badInput';
import { canceled, GatewayError } from '../../gateway/errors/gatewayError';
import { jobName, describeProgress } from '../../gateway/errors/jobSummary';
import { emptyToolResult, toolResult } from '../agent/answers';
import { isRunByAgent, isTool } from '../agent/tool';
import { createGateway, type N8nGateway } from '../client/gateway';
import { stopSignalOf } from '../client/httpClient';
import { errorItem, nodeError, recordOf } from '../errors/nodeError';
import { signedLinkOf } from '../files/binary';
import { ItemParameters } from '../parameters/itemParameters';
import { orderedBeforeStop, alreadySentError, stoppedError } from './ambiguousRequests';
import { batchesOf } from './batches';
import { isOrder, ItemState, type Failure, type Prepared } from './itemState';
import { noteOrder } from './memory';
import { Receipts } from './receipts';
import type { ItemOutput, ItemRun, ItemWork } from './work';

/** In milliseconds: for the answer to what may have been paid for, whose job or text is kept then. */
const graceOnStop = 5_000;

/**
 * The one item loop of the package. First every item is checked, so that nothing is paid when one of
 * them cannot work; then they are sent side by side. When the node is about to fail, paid requests
 * under way are let finish, and all that was paid is kept in receipts for the next try.
 * @param parallel items in flight at most
 */
export async function runItems<Request, Made>(
	context: IExecuteFunctions,
	work: ItemWork<Request, Made>,
	parallel: number,
): Promise<INodeExecutionData[][]> {
	return await new ItemLoop(context, work).run(parallel);
}

class ItemLoop<Request, Made> {
	private readonly items: Array<ItemState<Request, Made>>;
	/** In the order they happened: the first is the cause of what follows. */
	private readonly failures: Array<{ item: number; error: unknown }> = [];
	private readonly receipts: Receipts;
	private readonly continues: boolean;
	/** What is under way. Each item has a signal of its own: Node warns when many listen to the same one. */
	private readonly underWay = new Map<AbortController, Array<Prepared<Request, Made>>>();
	private readonly stop?: AbortSignal;
	/** Whether what is under way has been given up because another item failed. */
	private isAborted = false;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly work: ItemWork<Request, Made>,
	) {
		this.items = context.getInputData().map((_, item) => new ItemState(item, work));
		this.receipts = new Receipts(context);
		this.continues = context.continueOnFail();
		this.stop = stopSignalOf(context);
	}

	async run(parallel: number): Promise<INodeExecutionData[][]> {
		const abort = () => this.abort();
		this.stop?.addEventListener('abort', abort, { once: true });
		// Stays when the node has ended: of a stopped execution, n8n may have stored nothing.
		if (isOrder(this.work)) {
			this.stop?.addEventListener('abort', () => this.saveForRetry(), { once: true });
		}
		try {
			const pace = new AdaptiveLimit(parallel);
			const gateway = await createGateway(this.context, { limiter: pace, graceOnStop });
			await this.prepareAll(gateway);
			if (!this.isFailing) await this.performAll(gateway, new AdaptiveLimit(parallel));
		} catch (error) {
			// The credential is missing or unusable: that is every item's error.
			for (const state of this.items) this.fail(state, error);
		} finally {
			this.stop?.removeEventListener('abort', abort);
		}
		return this.finish();
	}

	private async prepareAll(gateway: N8nGateway): Promise<void> {
		for (const state of this.items) {
			try {
				const parameters = new ItemParameters(this.context, state.item);
				const request = await this.work.prepare(parameters, this.runOf(state, gateway));
				for (const check of parameters.checks) await check();
				if (parameters.problems.length > 0) throw badInput(parameters.problems, this.work);
				state.request = request;
			} catch (error) {
				this.fail(state, error);
			}
		}
	}

	private async performAll(gateway: N8nGateway, slots: AdaptiveLimit): Promise<void> {
		if (this.work.paid) for (const state of this.prepared) this.recall(state);
		const due = this.prepared.filter(({ outcome }) => outcome === undefined);
		const perform = async (group: Array<Prepared<Request, Made>>) => {
			if (this.isFailing || this.isStopped) return;
			const own = new AbortController();
			this.underWay.set(own, group);
			const ownGateway = gateway.withSignal(own.signal);
			const unpaid = group.filter(({ made }) => made === undefined);
			await this.make(unpaid, ownGateway);
			await Promise.all(group.map(async (state) => await this.deliver(state, ownGateway)));
			this.underWay.delete(own);
		};
		const groups = batchesOf(due, this.work.batch);
		await Promise.all(groups.map((group) => slots.run(async () => await perform(group))));
	}

	/** Takes over what an earlier try has paid for. */
	private recall(state: Prepared<Request, Made>): void {
		const receipt = this.receipts.find(state);
		if (receipt === undefined) return;
		for (const hint of receipt.hints ?? []) this.hint(state, hint);
		if (receipt.job) state.job = receipt.job;
		state.made = receipt.made as Made | undefined;
		state.outcome = receipt.outputs;
		if (receipt.lost && !this.work.resendsLost?.(state.request)) {
			this.fail(state, alreadySentError(receipt.lost));
		}
	}

	private async make(group: Array<Prepared<Request, Made>>, gateway: N8nGateway): Promise<void> {
		if (group.length === 0) return;
		const requests = group.map(({ request }) => request);
		const run = this.runOf(group[0], gateway);
		const { batch } = this.work;
		try {
			const made = batch
				? await batch.perform(requests, run)
				: [await this.work.perform(requests[0], run)];
			group.forEach((state, place) => {
				const result = made[place];
				if (result instanceof GatewayError) this.fail(state, result);
				else state.made = result;
			});
		} catch (error) {
			for (const state of group) this.fail(state, error);
		}
	}

	private async deliver(state: Prepared<Request, Made>, gateway: N8nGateway): Promise<void> {
		const { made, request } = state;
		if (made === undefined) return;
		const { deliver } = this.work;
		try {
			const outputs = deliver
				? await deliver(made, request, this.runOf(state, gateway))
				: (made as ItemOutput[]);
			state.outcome = outputs.map((output) =>
				output instanceof GatewayError ? this.failed(state, output) : output,
			);
		} catch (error) {
			this.fail(state, error);
		}
	}

	private runOf(state: ItemState<Request, Made>, gateway: N8nGateway): ItemRun {
		return {
			context: this.context,
			gateway,
			item: state.item,
			count: this.items.length,
			reportJob: (job) => {
				// All that is left of a paid job when n8n is killed before it stores the node's output.
				if (this.work.paid) {
					this.context.logger.info(`${jobName(job)} was created`);
					noteOrder(this.context);
				}
				state.job = job;
			},
			hint: (message) => this.hint(state, message),
		};
	}

	private hint({ hints }: ItemState<Request, Made>, message: string): void {
		// What is delivered again says again what its receipt has kept.
		if (hints.includes(message)) return;
		hints.push(message);
		this.context.addExecutionHints({ message, location: 'outputPane' });
	}

	/** Hands on what the items gave, or fails the node. */
	private finish(): INodeExecutionData[][] {
		const isClean = this.failures.length === 0 && !this.isStopped;
		if (this.work.paid && isClean) this.receipts.clear(this.prepared);
		else if (this.work.paid) this.keepReceipts();

		if (this.isStopped && isOrder(this.work)) this.saveForRetry();
		if (this.isStopped) {
			// n8n does not store what a stopped node says.
			const jobs = this.items.flatMap(({ job }) => (job ? [describeProgress(job)] : []));
			if (jobs.length > 0) this.context.logger.info(`Stopped. ${jobs.join('. ')}`);
			throw this.error(stoppedError(this.items));
		}
		if (this.isFailing) return this.failNode();
		const node = this.context.getNode();
		const isForModel = isTool(node);
		const isEmpty = this.items.every(({ outcome }) => !outcome?.length);
		if (isForModel && isEmpty) return [[{ ...emptyToolResult, pairedItem: { item: 0 } }]];
		return [
			this.items.flatMap(({ item, job, outcome = [] }) =>
				outcome.map((output) =>
					'error' in output
						? errorItem(output.error, item, node)
						: {
								...(isForModel
									? toolResult(output, job, (file) => signedLinkOf(file, this.context))
									: output),
								pairedItem: { item },
							},
				),
			),
		];
	}

	private failNode(): INodeExecutionData[][] {
		const [first] = this.failures;
		const error = this.error(first);
		// An older agent tells its model nothing of a tool that throws, and the model may order again.
		if (!isRunByAgent(this.context)) throw error;
		return [[{ json: { error: error.message }, pairedItem: { item: first.item } }]];
	}

	private keepReceipts(): void {
		for (const state of this.prepared) {
			const { receipt } = state;
			if (receipt) this.receipts.keep(state, receipt);
		}
	}

	/** What of an order is known for now; those under way are in doubt. */
	private saveForRetry(): void {
		const underWay = new Set([...this.underWay.values()].flat());
		for (const state of this.prepared) {
			const lost = underWay.has(state) ? { lost: orderedBeforeStop } : undefined;
			this.receipts.saveForRetry(state, state.receipt ?? lost);
		}
	}

	private error({ error, item: cause }: { error: unknown; item?: number }) {
		const { message } = recordOf(error);
		const others = this.failures.filter((failure) => recordOf(failure.error).message !== message);
		return nodeError(this.context.getNode(), {
			error,
			item: cause,
			others: others.map((other) => `item ${other.item}: ${recordOf(other.error).message}`),
			jobs: this.items.flatMap(({ item, job }) => (job ? [{ item, ...job }] : [])),
			jobsAreKept: this.work.paid,
		});
	}

	private fail(state: ItemState<Request, Made>, cause: unknown): void {
		state.outcome = [this.failed(state, cause)];
	}

	private failed({ item, job }: ItemState<Request, Made>, cause: unknown): Failure {
		const error = job && cause instanceof GatewayError ? cause.about(job) : cause;
		// What fails because the node has failed already is a consequence, not news.
		if (!this.isAborted && !this.isStopped) this.failures.push({ item, error });
		if (this.isFailing && !this.work.paid) this.abort();
		return { error };
	}

	/** Ends what is under way. */
	private abort(): void {
		this.isAborted = true;
		for (const own of this.underWay.keys()) own.abort(canceled());
	}

	/** The items that can be sent. */
	private get prepared(): Array<Prepared<Request, Made>> {
		return this.items.filter((state) => state.isPrepared());
	}

	private get isFailing(): boolean {
		return this.failures.length > 0 && !this.continues;
	}

	private get isStopped(): boolean {
		return this.stop?.aborted ?? false;
	}
}
