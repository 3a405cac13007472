import type { ItemWork } from '../items/work';
import type { Field } from '../parameters/field';

/** An operation: its entry in the node's menus, and what it does with each item. */
export type Operation<Request = unknown, Result extends object = object> = MenuEntry &
	ItemWork<Request, Result>;

interface MenuEntry {
	resource: { name: string; value: string };
	name: string;
	value: string;
	/** In sentence case, with the input: "Create a video from text". */
	action: string;
	description: string;
	/** Shown for this operation only. */
	fields: readonly Field[];
	/** Entries of its "Options". */
	options?: readonly Field[];
}
