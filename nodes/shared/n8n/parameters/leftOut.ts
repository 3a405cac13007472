import type { IDataObject } from 'n8n-workflow';

/** The output of an item that was not ordered, though nothing failed. It keeps a loop going, which ends without any. */
export const leftOut = (key: string, reason: string) => ({
	ordered: false,
	order_key: key,
	reason,
});

/** Whether an item was left out by the node that was to order its job. */
export const isLeftOut = ({ ordered, order_key, reason }: IDataObject): boolean =>
	ordered === false && typeof order_key === 'string' && typeof reason === 'string';
