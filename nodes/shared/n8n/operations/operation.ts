import type { ItemWork } from '../items/work';
import type { Field } from '../parameters/field';

/** What the node's menus offer, and what happens to each item then. */
export type Operation<Request = unknown, Result extends object = object> = MenuEntry &
	ItemWork<Request, Result>;

interface MenuEntry {
	resource: { name: string; value: string };
	name: string;
	value: string;
	/** Sentence case, and says what goes in: "Create a video from text". */
	action: string;
	description: string;
	/** Shown for this operation only. */
	fields: readonly Field[];
	/** Entries of its "Options". */
	options?: readonly Field[];
}
