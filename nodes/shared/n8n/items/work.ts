import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { GatewayError } from '../../gateway/errors/gatewayError';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import type { N8nGateway } from '../client/gateway';
import type { ItemParameters } from '../parameters/itemParameters';

/** What an operation gives for an item; the item loop adds the pairing. */
export interface ItemOutput {
	json: IDataObject;
	binary?: IBinaryKeyData;
}

/** The surroundings of one item while its operation runs. */
export interface ItemRun {
	context: IExecuteFunctions;
	gateway: N8nGateway;
	item: number;
	/** Number of items in this run. */
	count: number;
	/** Names the job this item is about, so that every way out of the node carries it. */
	reportJob(job: JobSummary): void;
	/** A remark beside the node's output. */
	hint(message: string): void;
}

/**
 * What happens to each item. Everything that can be checked is checked for all items before the first
 * is sent; what was paid for is never sent again because of what comes after.
 */
export interface ItemWork<Request, Made = ItemOutput[]> {
	/** What {@link perform} makes is paid for: it is kept in receipts, and never aborted because another item failed. */
	paid: boolean;
	/** Reads and checks one item's parameters; problems are collected by `parameters`. */
	prepare(
		parameters: ItemParameters,
		run: Pick<ItemRun, 'gateway' | 'reportJob'>,
	): Promise<Request> | Request;
	/** The request itself. Without {@link deliver}, it gives the item's outputs. */
	perform(request: Request, run: ItemRun): Promise<Made>;
	/** Sends several items in one request, where the endpoint takes them. */
	batch?: {
		/** Items with the same key go together, as long as their sizes add up to at most `most`. */
		key(request: Request): unknown;
		size(request: Request): number;
		maxSize(request: Request): number;
		/** @returns for each request what it made, or why it failed */
		perform(requests: Request[], run: ItemRun): Promise<Array<Made | GatewayError>>;
	};
	/**
	 * Turns the answer into outputs; costs nothing, and may be repeated. An error in the place of an output
	 * fails alone. What it adds to `made` is kept in the receipt too.
	 */
	deliver?(made: Made, request: Request, run: ItemRun): Promise<Array<ItemOutput | GatewayError>>;
	/** What makes two requests the same, where it is not the whole request. */
	identity?(request: Request): unknown;
	/** Whether the user wants a request sent again whose answer was lost. */
	resendsLost?(request: Request): boolean;
}
