import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import {
	GatewayError,
	badInput,
	canceled,
	type ErrorRecord,
	type JobNote,
} from '../gateway/errors';
import { Slots } from '../gateway/slots';
import { nameOf } from '../gateway/waiting';
import { errorItem, nodeError, recordOf, type ItemJob } from './errors';
import { gatewayOf, type N8nGateway } from './gateway';
import { groupsOf } from './groups';
import type { ItemOutput, ItemRun, ItemWork } from './operation';
import { ItemParameters } from './parameters';
import { Receipts, type Receipt } from './receipts';
import { isTool, toolAnswer } from './toolAnswers';
import { stopSignalOf } from './world';

/** In milliseconds: for the answer to what may have been paid for, whose job or text is kept then. */
const graceOnStop = 5_000;

interface Failure {
	error: unknown;
}

/** How one item ended: its outputs, and failures in the place of those that did not come. */
type Outcome = Array<ItemOutput | Failure>;

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
	private readonly items: INodeExecutionData[];
	private readonly requests = new Map<number, Request>();
	/** Answers that are paid for, by item. */
	private readonly made = new Map<number, Made>();
	private readonly outcomes: Outcome[] = [];
	/** In the order they happened: the first is the cause of what follows. */
	private readonly failures: Array<{ item: number; error: unknown }> = [];
	private readonly jobs = new Map<number, JobNote>();
	/** What was remarked, by item. */
	private readonly hints: string[][] = [];
	private readonly receipts: Receipts;
	private readonly continues: boolean;
	/** What is under way. Each item has a signal of its own: Node warns when many listen to the same one. */
	private readonly underWay = new Map<AbortController, number[]>();
	private readonly stop?: AbortSignal;
	/** Whether what is under way has been given up because another item failed. */
	private isGivenUp = false;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly work: ItemWork<Request, Made>,
	) {
		this.items = context.getInputData();
		this.receipts = new Receipts(context);
		this.continues = context.continueOnFail();
		this.stop = stopSignalOf(context);
	}

	async run(parallel: number): Promise<INodeExecutionData[][]> {
		const abort = () => this.abort();
		this.stop?.addEventListener('abort', abort, { once: true });
		// Stays when the node has ended: of a stopped execution, n8n may have stored nothing.
		if (this.isOrder) this.stop?.addEventListener('abort', () => this.leave(), { once: true });
		try {
			const pace = new Slots(parallel);
			const gateway = await gatewayOf(this.context, { pace, graceOnStop });
			await this.prepareAll(gateway);
			if (!this.isFailing) await this.performAll(gateway, new Slots(parallel));
		} catch (error) {
			// The credential is missing or unusable: that is every item's error.
			this.items.forEach((_, item) => this.fail(item, error));
		} finally {
			this.stop?.removeEventListener('abort', abort);
		}
		return this.finish();
	}

	private async prepareAll(gateway: N8nGateway): Promise<void> {
		for (let item = 0; item < this.items.length; item++) {
			try {
				const parameters = new ItemParameters(this.context, item);
				const request = await this.work.prepare(parameters, this.runOf(item, gateway));
				for (const check of parameters.checks) await check();
				if (parameters.problems.length > 0) throw badInput(parameters.problems, this.work);
				this.requests.set(item, request);
			} catch (error) {
				this.fail(item, error);
			}
		}
	}

	private async performAll(gateway: N8nGateway, slots: Slots): Promise<void> {
		for (const item of this.requests.keys()) this.recall(item);
		const due = [...this.requests.keys()].filter((item) => !this.outcomes[item]);
		const perform = async (group: number[]) => {
			if (this.isFailing || this.isStopped) return;
			const own = new AbortController();
			this.underWay.set(own, group);
			const ownGateway = gateway.withSignal(own.signal);
			const due = group.filter((item) => !this.made.has(item));
			await this.make(due, ownGateway);
			await Promise.all(group.map(async (item) => await this.deliver(item, ownGateway)));
			this.underWay.delete(own);
		};
		const groups = groupsOf(due, this.requests, this.work.batch);
		await Promise.all(groups.map((group) => slots.run(async () => await perform(group))));
	}

	/** Takes over what an earlier try has paid for. */
	private recall(item: number): void {
		const request = this.requests.get(item) as Request;
		const receipt = this.work.paid ? this.receipts.find(item, this.identityOf(request)) : undefined;
		for (const hint of receipt?.hints ?? []) this.hint(item, hint);
		if (receipt?.job) this.jobs.set(item, receipt.job);
		if (receipt?.made !== undefined) this.made.set(item, receipt.made as Made);
		if (receipt?.outputs) this.outcomes[item] = receipt.outputs;
		if (receipt?.lost && !this.work.resendsLost?.(request)) {
			this.fail(item, sentBefore(receipt.lost));
		}
	}

	private async make(group: number[], gateway: N8nGateway): Promise<void> {
		if (group.length === 0) return;
		const requests = group.map((item) => this.requests.get(item) as Request);
		const run = this.runOf(group[0], gateway);
		const { batch } = this.work;
		try {
			const made = batch
				? await batch.perform(requests, run)
				: [await this.work.perform(requests[0], run)];
			group.forEach((item, place) => {
				const result = made[place];
				if (result instanceof GatewayError) this.fail(item, result);
				else this.made.set(item, result);
			});
		} catch (error) {
			for (const item of group) this.fail(item, error);
		}
	}

	private async deliver(item: number, gateway: N8nGateway): Promise<void> {
		const made = this.made.get(item);
		if (made === undefined) return;
		const { deliver } = this.work;
		try {
			const request = this.requests.get(item) as Request;
			const outputs = deliver
				? await deliver(made, request, this.runOf(item, gateway))
				: (made as ItemOutput[]);
			this.outcomes[item] = outputs.map((output) =>
				output instanceof GatewayError ? this.failed(item, output) : output,
			);
		} catch (error) {
			this.fail(item, error);
		}
	}

	private runOf(item: number, gateway: N8nGateway): ItemRun {
		return {
			context: this.context,
			gateway,
			item,
			count: this.items.length,
			note: (job) => {
				// All that is left of a paid job when n8n is killed before it stores the node's output.
				if (this.work.paid) this.context.logger.info(`${nameOf(job)} was created`);
				this.jobs.set(item, job);
			},
			hint: (message) => this.hint(item, message),
		};
	}

	private hint(item: number, message: string): void {
		const hints = (this.hints[item] ??= []);
		// What is delivered again says again what its receipt has kept.
		if (hints.includes(message)) return;
		hints.push(message);
		this.context.addExecutionHints({ message, location: 'outputPane' });
	}

	/** Hands on what the items gave, or fails the node. */
	private finish(): INodeExecutionData[][] {
		const isClean = this.failures.length === 0 && !this.isStopped;
		if (this.work.paid && isClean) this.receipts.clear(this.identities());
		else if (this.work.paid) this.keepReceipts();

		if (this.isStopped && this.isOrder) this.leave();
		if (this.isStopped) throw this.stopped();
		if (this.isFailing) throw this.error(this.failures[0].error, this.failures[0].item);
		const isForModel = isTool(this.context.getNode());
		return [
			this.outcomes.flatMap((outcome, item) =>
				outcome.map((output) =>
					'error' in output
						? errorItem(output.error, item)
						: {
								...(isForModel ? toolAnswer(output, this.jobs.get(item), this.context) : output),
								pairedItem: { item },
							},
				),
			),
		];
	}

	/** What Stop left in doubt goes before all else. */
	private stopped() {
		const doubtful = this.outcomes.flatMap((outcome, item) => {
			const failure = failureIn(outcome);
			return failure && recordOf(failure.error).billed === 'unknown' ? [{ item, ...failure }] : [];
		});
		const [first, ...others] = doubtful;
		if (first === undefined) return this.error(canceled());
		const { record, reach } = first.error as GatewayError;
		const items = others.map(({ item }) => item).join(', ');
		const also = others.length > 0 ? ` So it is with items ${items}.` : '';
		const error = new GatewayError({ ...record, advice: record.advice + also }, reach);
		return this.error(error, first.item);
	}

	private keepReceipts(): void {
		for (const [item, identity] of this.identities()) {
			const receipt = this.receiptOf(item);
			if (receipt) this.receipts.keep(item, identity, receipt);
		}
	}

	/** What of an order is known for now; those under way are in doubt. */
	private leave(): void {
		const underWay = new Set([...this.underWay.values()].flat());
		for (const [item, identity] of this.identities()) {
			const lost = underWay.has(item) ? { lost: orderedBeforeStop } : undefined;
			this.receipts.leave(item, identity, this.receiptOf(item) ?? lost);
		}
	}

	/** Undefined for what is surely not paid for. */
	private receiptOf(item: number): Receipt | undefined {
		const outcome = this.outcomes[item];
		const failure = failureIn(outcome);
		const made = this.made.get(item);
		if (made !== undefined) {
			const outputs = failure ? undefined : (outcome as ItemOutput[] | undefined);
			return { made, outputs, job: this.jobs.get(item), hints: this.hints[item] };
		}
		const mayBePaid = failure && this.mayBePaid(failure.error);
		return mayBePaid ? { lost: recordOf(failure.error) } : undefined;
	}

	/** Whether the service may have done, and billed, what the error hides. */
	private mayBePaid(error: unknown): boolean {
		if (!(error instanceof GatewayError)) return false;
		// A lost answer is billed for jobs only ("Errors", status 0); they leave the choice to the user.
		return error.reach === 'unreadable' || (error.reach === 'lost' && this.isOrder);
	}

	private error(error: unknown, item?: number) {
		const { message } = recordOf(error);
		const others = this.failures.filter((failure) => recordOf(failure.error).message !== message);
		const jobs = [...this.jobs].map(([jobItem, job]): ItemJob => ({ item: jobItem, ...job }));
		return nodeError(this.context.getNode(), {
			error,
			item,
			others: others.map((other) => `item ${other.item}: ${recordOf(other.error).message}`),
			jobs: jobs.sort((a, b) => a.item - b.item),
			jobsAreKept: this.work.paid,
		});
	}

	private fail(item: number, cause: unknown): void {
		this.outcomes[item] = [this.failed(item, cause)];
	}

	private failed(item: number, cause: unknown): Failure {
		const job = this.jobs.get(item);
		const error = job && cause instanceof GatewayError ? cause.about(job) : cause;
		// What fails because the node has failed already is a consequence, not news.
		if (!this.isGivenUp && !this.isStopped) this.failures.push({ item, error });
		if (this.isFailing && !this.work.paid) this.abort();
		return { error };
	}

	/** Ends what is under way. */
	private abort(): void {
		this.isGivenUp = true;
		for (const own of this.underWay.keys()) own.abort(canceled());
	}

	private identities(): Array<[item: number, request: unknown]> {
		return [...this.requests].map(([item, request]) => [item, this.identityOf(request)]);
	}

	private identityOf(request: Request): unknown {
		return this.work.identity?.(request) ?? request;
	}

	/** What is ordered is never sent again by itself when it may have arrived. */
	private get isOrder(): boolean {
		return this.work.resendsLost !== undefined;
	}

	private get isFailing(): boolean {
		return this.failures.length > 0 && !this.continues;
	}

	private get isStopped(): boolean {
		return this.stop?.aborted ?? false;
	}
}

function failureIn(outcome: Outcome | undefined): Failure | undefined {
	return outcome?.find((output) => 'error' in output);
}

/** Until its answer comes, or the time for it is over. */
const orderedBeforeStop: ErrorRecord = {
	...canceled().record,
	advice:
		'The job may have been accepted and may be running. Look into the billing log of the service.',
	billed: 'unknown',
};

const sentAlready =
	'An earlier try has sent this already: a retry does not send it again, because that could be paid twice. To have it sent, execute the workflow anew.';

/** An earlier try has sent this, and what became of it is not known. */
function sentBefore({ advice, ...record }: ErrorRecord): GatewayError {
	const told = advice.includes(sentAlready) ? advice : `${advice} ${sentAlready}`;
	// By its message, n8n would take this try for one that was stopped too.
	const isStop = record.message === canceled().message;
	const message = isStop ? 'An earlier try was stopped before its answer came' : record.message;
	return new GatewayError(
		{ ...record, message, advice: told, retry_can_help: false },
		'unreadable',
	);
}
