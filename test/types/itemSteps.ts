// Only the compiler reads this file: what is expected to be an error here must not compile anywhere.
import type { CheckedItem, EndedItem, PlannedItem, Step } from '../../nodes/shared/n8n/items/item';
import type { sendAll } from '../../nodes/shared/n8n/items/send';
import type { settle } from '../../nodes/shared/n8n/items/settle';

type Send = Parameters<typeof sendAll>[1];
type Settle = Parameters<typeof settle>[1];

export const send = ({ items }: Step<PlannedItem>): Send => items;

// @ts-expect-error The ledger has not let it through.
export const unplanned = ({ items }: Step<CheckedItem>): Send => items;

export const settled = (ended: EndedItem[]): Settle => ended;

// @ts-expect-error It has not ended.
export const unsent = ({ items }: Step<PlannedItem>): Settle => items;
