import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { GatewayError, badInput, canceled, type JobNote } from '../gateway/errors';
import { Slots } from '../gateway/slots';
import { errorItem, nodeError, recordOf, type ItemJob } from './errors';
import { gatewayOf, type N8nGateway } from './gateway';
import type { ItemOutput, ItemWork, Operation } from './operation';
import { ItemParameters } from './parameters';
import { Receipts } from './receipts';
import { stopSignalOf } from './world';

/** How one item ended. */
type Outcome = { outputs: ItemOutput[] } | { error: unknown };

/**
 * The one item loop of the package. First every item is checked, so that nothing is paid when one of
 * them cannot work; then they are sent side by side. When the node is about to fail, paid requests
 * under way are let finish, and all that was paid is kept in receipts for the next try.
 * @param parallel items in flight at most
 */
export async function runItems<Request>(
	context: IExecuteFunctions,
	work: ItemWork<Request>,
	parallel: number,
): Promise<INodeExecutionData[][]> {
	return await new ItemLoop(context, work).run(parallel);
}

/** Runs the operation that is chosen in the node's menus. */
export async function runOperation(
	context: IExecuteFunctions,
	operations: Operation[],
): Promise<INodeExecutionData[][]> {
	const resource = context.getNodeParameter('resource', 0);
	const name = context.getNodeParameter('operation', 0);
	const operation = operations.find(
		({ resource: { value }, value: own }) => value === resource && own === name,
	);
	if (operation === undefined) {
		throw new NodeOperationError(
			context.getNode(),
			`There is no operation "${resource}: ${name}"`,
			{
				description: 'Choose the resource and the operation again.',
			},
		);
	}
	const parallel = Number(context.getNodeParameter('options.parallelRequests', 0, 10));
	return await runItems(context, operation, parallel >= 1 ? Math.floor(parallel) : 10);
}

class ItemLoop<Request> {
	private readonly items: INodeExecutionData[];
	private readonly requests = new Map<number, Request>();
	private readonly outcomes: Outcome[] = [];
	/** In the order they happened: the first is the cause of what follows. */
	private readonly failures: Array<{ item: number; error: unknown }> = [];
	private readonly jobs = new Map<number, JobNote>();
	private readonly receipts: Receipts;
	private readonly continues: boolean;
	/** Aborts when the node has failed and what is under way is not worth finishing. */
	private readonly failed = new AbortController();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly work: ItemWork<Request>,
	) {
		this.items = context.getInputData();
		this.receipts = new Receipts(context);
		this.continues = context.continueOnFail();
	}

	async run(parallel: number): Promise<INodeExecutionData[][]> {
		try {
			const gateway = await gatewayOf(this.context, this.failed.signal);
			await this.prepareAll(gateway);
			if (!this.isFailing) await this.performAll(gateway, new Slots(parallel));
		} catch (error) {
			// The credential is missing or unusable: that is every item's error.
			this.items.forEach((_, item) => this.fail(item, error));
		}
		return this.finish();
	}

	private async prepareAll(gateway: N8nGateway): Promise<void> {
		for (let item = 0; item < this.items.length; item++) {
			try {
				const parameters = new ItemParameters(this.context, item);
				const request = await this.work.prepare(parameters, { gateway });
				if (parameters.problems.length > 0) throw badInput(parameters.problems);
				this.requests.set(item, request);
			} catch (error) {
				this.fail(item, error);
			}
		}
	}

	private async performAll(gateway: N8nGateway, slots: Slots): Promise<void> {
		const perform = async (item: number, request: Request) => {
			try {
				if (this.isFailing || this.isStopped) return;
				this.outcomes[item] = { outputs: await this.outputsOf(item, request, gateway) };
			} catch (error) {
				this.fail(item, error);
				if (this.isFailing && !this.work.paid) this.failed.abort(canceled());
			}
		};
		await Promise.all(
			[...this.requests].map(([item, request]) => slots.run(() => perform(item, request))),
		);
	}

	private async outputsOf(
		item: number,
		request: Request,
		gateway: N8nGateway,
	): Promise<ItemOutput[]> {
		const note = (job: JobNote) => void this.jobs.set(item, job);
		const receipt = this.work.paid && this.receipts.find(item, this.identityOf(request));
		if (receipt && 'outputs' in receipt) {
			if (receipt.job) note(receipt.job);
			return receipt.outputs;
		}
		if (receipt && !this.work.resendsLost?.(request)) throw new GatewayError(receipt.lost, 'lost');
		return await this.work.perform(request, {
			context: this.context,
			gateway,
			item,
			count: this.items.length,
			note,
			hint: (message) => this.context.addExecutionHints({ message, location: 'outputPane' }),
		});
	}

	/** Hands on what the items gave, or fails the node. */
	private finish(): INodeExecutionData[][] {
		const isClean = this.failures.length === 0 && !this.isStopped;
		if (isClean) this.receipts.clear();
		else if (this.work.paid) this.keepReceipts();

		if (this.isStopped) throw this.error(canceled());
		if (this.isFailing) throw this.error(this.failures[0].error, this.failures[0].item);
		return [
			this.outcomes.flatMap((outcome, item) =>
				'error' in outcome
					? [errorItem(outcome.error, item)]
					: outcome.outputs.map((output) => ({ ...output, pairedItem: { item } })),
			),
		];
	}

	private keepReceipts(): void {
		for (const [item, request] of this.requests) {
			const outcome = this.outcomes[item];
			const identity = this.identityOf(request);
			if (outcome && 'outputs' in outcome) {
				this.receipts.keep(item, identity, { ...outcome, job: this.jobs.get(item) });
			} else if (this.work.resendsLost && isLost(outcome?.error)) {
				this.receipts.keep(item, identity, { lost: recordOf(outcome?.error) });
			}
		}
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

	private fail(item: number, error: unknown): void {
		this.outcomes[item] = { error };
		// What fails because the node has failed already is a consequence, not news.
		if (!this.failed.signal.aborted && !this.isStopped) this.failures.push({ item, error });
	}

	private identityOf(request: Request): unknown {
		return this.work.identity?.(request) ?? request;
	}

	private get isFailing(): boolean {
		return this.failures.length > 0 && !this.continues;
	}

	private get isStopped(): boolean {
		return stopSignalOf(this.context)?.aborted ?? false;
	}
}

function isLost(error: unknown): boolean {
	return error instanceof GatewayError && (error.reach === 'lost' || error.reach === 'unreadable');
}
