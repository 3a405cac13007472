import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { JobNote } from '../gateway/errors';
import type { N8nGateway } from './gateway';
import type { ItemParameters } from './parameters';

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
	note(job: JobNote): void;
	/** A remark beside the node's output. */
	hint(message: string): void;
}

/**
 * What happens to each item, in two steps: everything that can be checked is checked for all items
 * before the first is sent.
 */
export interface ItemWork<Request> {
	/** What it makes is paid for: kept in receipts, and never aborted because another item failed. */
	paid: boolean;
	/** Reads and checks one item's parameters; problems are collected by `parameters`. */
	prepare(parameters: ItemParameters, run: { gateway: N8nGateway }): Promise<Request> | Request;
	perform(request: Request, run: ItemRun): Promise<ItemOutput[]>;
	/** What makes two requests the same, where it is not the whole request. */
	identity?(request: Request): unknown;
	/** Whether the user wants a request sent again whose answer was lost. */
	resendsLost?(request: Request): boolean;
}

/** One entry of the node's menus. */
export interface Operation<Request = unknown> extends ItemWork<Request> {
	resource: { name: string; value: string };
	name: string;
	value: string;
	/** Sentence case, with the resource: "Create a reference video". */
	action: string;
	description: string;
	/** Shown for this operation only. */
	fields: INodeProperties[];
	/** Entries of its "Options". */
	options?: INodeProperties[];
}
