import type { OrderOptions } from '../parameters/orderOptions';
import type { Knowledge } from './entry';
import type { Order } from './identity';
import type { Match } from './match';

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

/** One request of the run. Only the hash of the request is kept, since it may be large. */
export interface Line extends Omit<PaidItem, 'request'> {
	order: Order;
	/** What is known of it from other tries. */
	found?: Match;
	/** How many requests of it may have made something, with those of other tries. */
	timesSent: number;
	/** What is known after it was sent. */
	learned?: Knowledge;
}

export const isPreview = (item: Pick<PaidItem, 'isPreview'>): boolean => item.isPreview;
export const isReal = (item: Pick<PaidItem, 'isPreview'>): boolean => !item.isPreview;
export const hasKey = ({ order }: Line): boolean => order.key !== undefined;

/** Whether it was not sent before. */
export const isFresh = ({ found }: Line): boolean => !found;
/** Whether some of its requests were answered, so that it counts already. */
export const isContinued = ({ found }: Line): boolean => found?.entry.state === 'new';
/** Whether it may never have been sent: n8n may have been killed between the record and the request. */
export const isUnsure = ({ found }: Line): boolean => found?.entry.state === 'sent';

export const ordersOf = (lines: readonly Line[]): Order[] => lines.map(({ order }) => order);
