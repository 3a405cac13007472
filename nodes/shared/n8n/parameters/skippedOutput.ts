import type { IDataObject } from 'n8n-workflow';

/** The output of an item that places no order and does not fail. Without an output, a loop would end. */
export const skippedOutput = (key: string, reason: string) => ({
	ordered: false,
	order_key: key,
	reason,
});

/** The output of an item that is only previewed. The first columns in n8n say which items would fail, and why. */
export const previewOutput = <Facts extends { would: string; reason: string }>({
	reason,
	would,
	...facts
}: Facts) => ({ reason, would, ordered: false, preview: true, ...facts });

/** Whether an item is the output of an earlier node for a skipped or previewed item, and so has no job. */
export const isSkippedOutput = ({ ordered, order_key, preview, reason }: IDataObject): boolean =>
	ordered === false &&
	(typeof order_key === 'string' || preview === true) &&
	typeof reason === 'string';
