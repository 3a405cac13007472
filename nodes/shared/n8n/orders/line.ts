import type { OrderOptions } from '../parameters/orderOptions';
import type { Match } from './match';
import type { State, Wish } from './order';

/** An item whose request costs money. */
export interface PaidItem {
	/** Index of the item. */
	index: number;
	/** What makes two requests the same. */
	request: unknown;
	/** The user's options for its order; undefined where nothing is ordered. */
	options?: OrderOptions;
	/** Whether the user wants it sent again when its response was lost. */
	resendsLost: boolean;
	/** Whether only the decision is wanted: nothing is sent or kept for this item. */
	isPreview: boolean;
	/** Estimated cost of its order; undefined without a price. */
	cost?: number;
}

/** One wish of the run. Only the hash of the request is kept, since it may be large. */
export interface Line extends Omit<PaidItem, 'request'> {
	wish: Wish;
	/** What is known of it from other tries. */
	found?: Match;
	/** How many requests of this run may have made something. */
	sends: number;
	/** What is known after it was sent. */
	learned?: State;
}

export const isPreview = (item: Pick<PaidItem, 'isPreview'>): boolean => item.isPreview;
export const isReal = (item: Pick<PaidItem, 'isPreview'>): boolean => !item.isPreview;
export const hasKey = ({ wish }: Line): boolean => wish.key !== undefined;

/** Whether it was not sent before. */
export const isFresh = ({ found }: Line): boolean => !found;
/** Whether some of its requests were answered, so that it counts already. */
export const isContinued = ({ found }: Line): boolean => found?.order.state === 'new';
/** Whether it may never have been sent: n8n may have been killed between the record and the request. */
export const isUnsure = ({ found }: Line): boolean => found?.order.state === 'sent';

export const wishesOf = (lines: readonly Line[]): Wish[] => lines.map(({ wish }) => wish);
