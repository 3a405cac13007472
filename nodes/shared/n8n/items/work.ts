import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { GatewayError } from '../../gateway/errors/gatewayError';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import type { Endpoint } from '../../gateway/protocol/endpoints';
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
 * @typeParam Result of {@link DeliveringWork.perform}, where there is a `deliver`
 */
export type ItemWork<Request = unknown, Result extends object = object> =
	DirectWork<Request> | DeliveringWork<Request, Result>;

/** Work whose request gives the item's outputs. */
export interface DirectWork<Request = unknown>
	extends CheckedWork<Request>, Sending<Request, ItemOutput[]> {
	deliver?: undefined;
}

/** Work that makes the outputs of what the request gave, such as files of links. */
export interface DeliveringWork<Request = unknown, Result extends object = object>
	extends CheckedWork<Request>, Sending<Request, Result> {
	/**
	 * Turns the result into outputs; costs nothing, and may be repeated. An error in the place of an output
	 * fails alone. What it adds to `result` is kept in the receipt too.
	 */
	deliver(
		result: Result,
		request: Request,
		run: ItemRun,
	): Promise<Array<ItemOutput | GatewayError>>;
}

interface CheckedWork<Request> {
	/**
	 * What it calls; the first, where there are several. Unless that only reads, what {@link Sending.perform} gives
	 * is paid for: it is kept in receipts, and never aborted because another item failed.
	 */
	endpoint: Endpoint;
	/** Reads and checks one item's parameters; problems are collected by `parameters`. */
	prepare(
		parameters: ItemParameters,
		run: Pick<ItemRun, 'gateway' | 'reportJob'>,
	): Promise<Request> | Request;
	/** What makes two requests the same, where it is not the whole request. */
	identity?(request: Request): unknown;
	/** Whether the user wants a request sent again whose answer was lost. */
	resendsLost?(request: Request): boolean;
}

interface Sending<Request, Result> {
	/** The request itself. What it gives has to survive JSON: n8n stores it with the execution. */
	perform(request: Request, run: ItemRun): Promise<Result>;
	/** Sends several items in one request, where the endpoint takes them. */
	batch?: Batching<Request, Result>;
}

export interface Batching<Request = unknown, Result = object> {
	/** Items with the same key go together, as long as their sizes add up to at most `maxSize`. */
	key(request: Request): unknown;
	size(request: Request): number;
	maxSize(request: Request): number;
	/** @returns for each request its result, or why it failed */
	perform(requests: Request[], run: ItemRun): Promise<Array<Result | GatewayError>>;
}
