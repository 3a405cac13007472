import type { IDataObject } from 'n8n-workflow';

/** The output of an item that was not ordered, though nothing failed. It keeps a loop going, which ends without any. */
export const leftOut = (key: string, reason: string) => ({
	ordered: false,
	order_key: key,
	reason,
});

/** The output of an item that was only to be previewed. */
export const previewOutput = <Facts extends { would: string; reason: string }>(facts: Facts) => ({
	ordered: false,
	preview: true,
	...facts,
});

/** Whether an item was left out by the node that was to order its job. */
export const isSkippedOutput = ({ ordered, order_key, preview, reason }: IDataObject): boolean =>
	ordered === false &&
	(typeof order_key === 'string' || preview === true) &&
	typeof reason === 'string';
