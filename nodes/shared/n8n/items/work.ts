import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Call } from '../../service/client/gateway';
import type { GatewayError } from '../../service/errors/gatewayError';
import type { JobSummary } from '../../service/errors/jobSummary';
import type { LinkedFile } from '../../service/jobs/linkLooks';
import type { Amount } from '../../service/protocol/amount';
import type { Endpoint } from '../../service/protocol/endpoints';
import type { N8nGateway } from '../client/gateway';
import type { Field } from '../parameters/field';
import type { ItemParameters } from '../parameters/itemParameters';

/** An output of an operation; the item loop adds the paired item. */
export type ItemOutput = Pick<INodeExecutionData, 'json' | 'binary'>;

export type Sending = Pick<Call<unknown>, 'timeout' | 'resendsLost'>;

/** One item, for its operation. */
export interface ItemRun {
	context: IExecuteFunctions;
	gateway: N8nGateway;
	item: number;
	sending: Sending;
	/**
	 * The operation of an item that takes several requests adds the result of each, which must survive JSON. The next try of
	 * a failed item finds them here.
	 */
	parts: object[];
	/** Every error and output then names the job. */
	reportJob(job: JobSummary): void;
	/** Shows a hint about this item with the node's output. */
	hint(message: string): void;
	/** Shows a hint about all items together, once. */
	note(message: string): void;
}

/** The work of an operation on each item. @typeParam Result of the request, where there is a `deliver` */
export type ItemWork<Request = unknown, Result extends object = object> =
	DirectWork<Request> | DeliveringWork<Request, Result>;

export type DirectWork<Request = unknown> = SendingWork<Request, ItemOutput[]> & {
	deliver?: undefined;
};

type DeliveringWork<Request, Result> = SendingWork<Request, Result> & {
	/**
	 * Turns the result into outputs, such as links into files. It must cost nothing, because it may be repeated. An error in
	 * place of an output fails only that output. Fields that it adds to `result` are kept as well.
	 */
	deliver(
		result: Result,
		request: Request,
		run: ItemRun,
	): Promise<Array<ItemOutput | GatewayError>>;
};

/** Work that sends each item in a request, or several items in one. */
type SendingWork<Request, Result> = Reading<Request> &
	(
		| {
				/** Sends the request. Its result must survive JSON, because n8n stores it with the execution. */
				perform(request: Request, run: ItemRun): Promise<Result>;
				batch?: undefined;
		  }
		| { batch: Batching<Request, Result>; perform?: undefined }
	);

/** How the items of a run are read, and what their requests are. */
export interface Reading<Request = unknown> {
	/**
	 * The endpoint it calls, or the first of several. Unless its cost is `read`, the ledger keeps each result, and no request
	 * is aborted because another item failed.
	 */
	endpoint: Endpoint;
	/** Reads and checks one item's parameters; problems are collected by `parameters`. */
	prepare(
		parameters: ItemParameters,
		run: Pick<ItemRun, 'gateway' | 'reportJob'>,
	): Promise<Request> | Request;
	/** The fields of the operation and the entries of its options: they say what is ordered, unless they are settings. */
	fields?: readonly Field[];
	options?: readonly Field[];
	/** Set where items order videos or images, which may have an Order Key and limits. */
	isOrder?: true;
	/** The files that the service will fetch for a request. */
	linkedFiles?(request: Request): readonly LinkedFile[];
	/** The amount that a request is charged for. */
	amount?(request: Request): Amount;
	/** Identifies a request across tries; default: the whole request. */
	identity?(request: Request): unknown;
}

export interface Batching<Request = unknown, Result = object> {
	/** Items with the same key and options share a batch, as long as their sizes add up to at most `maxSize`. */
	key(request: Request): unknown;
	size(request: Request): number;
	maxSize(request: Request): number;
	/** Sends the requests as one. @returns the result or the failure of each; results must survive JSON */
	perform(requests: Request[], run: ItemRun): Promise<Array<Result | GatewayError>>;
}
