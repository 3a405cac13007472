import type { Endpoint } from '../../gateway/protocol/endpoints';
import type { ItemWork } from '../items/work';
import type { Field } from '../parameters/field';

/** One entry of the node's menus. */
export interface Operation<Request = unknown, Made = unknown> extends ItemWork<Request, Made> {
	resource: { name: string; value: string };
	name: string;
	value: string;
	/** Sentence case, with the resource: "Create a reference video". */
	action: string;
	description: string;
	/** What it calls; the first, where there are several. */
	endpoint: Endpoint;
	/** Shown for this operation only. */
	fields: readonly Field[];
	/** Entries of its "Options". */
	options?: readonly Field[];
}
