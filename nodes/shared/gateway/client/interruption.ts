import { responseHidden } from '../errors/requestErrors';
import type { FileHead } from '../files/fileHead';
import { excerpt } from '../json';
import type { FileResponse } from './fileRequest';
import type { Redaction } from './redaction';

/** Why more bytes of a file are needed. */
export interface Interruption {
	reason: string;
	/** Set when the body was a text, so that nothing was passed on: a new link may help. */
	page?: { status: number; text?: string };
}

/** The connection broke off. */
export const brokenOff = (failure: unknown): Interruption => ({
	reason: failure instanceof Error ? failure.message : String(failure),
});

/** The response was read to its end, and is no file: it may be the page of a storage host. */
export function noFile(
	head: FileHead,
	{ status, isHidden }: FileResponse,
	{ wanted, redaction }: { wanted: 'image' | 'video'; redaction: Redaction },
): Interruption {
	if (head.length === 0) return { reason: 'no data arrived' };
	if (isHidden) return { reason: `it is no ${wanted}; ${responseHidden}`, page: { status } };
	const text = redaction.truncated(head.beginning);
	return { reason: `it is no ${wanted}: ${excerpt(text, 120)}`, page: { status, text } };
}
