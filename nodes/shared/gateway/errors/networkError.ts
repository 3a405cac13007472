import { TimeLimitError } from './timeLimitError';

/** What the network's own error tells. */
export interface NetworkError {
	/** Whether the request never left, or nobody was there to take it. */
	isUnsent: boolean;
	/** Whether the time limit passed. */
	isTimeout: boolean;
	/** Its codes and messages, each once. */
	texts: string[];
}

/** @param cause the network's own error, or whatever a layer above has wrapped it into */
export function readNetworkError(cause: unknown): NetworkError {
	const { texts, codes } = collectErrorTexts(cause);
	const all = [...codes, ...texts];
	const isTimeout = cause instanceof TimeLimitError || all.some((text) => timedOut.test(text));
	const isUnsent =
		all.some((text) => neverSent.test(text)) && !all.some((text) => brokeLater.test(text));
	return { isUnsent, isTimeout, texts: [...new Set(all)] };
}

/** Codes and messages of failures that happen before a request leaves: name lookup, connecting, TLS. */
const neverSent =
	/ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ERR_INVALID_URL|Invalid URL|CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|SSL routines|secure TLS connection was established|certificate|connect ETIMEDOUT|blocked/;

/** An open connection that broke says what it was doing: the request may have gone by then. */
const brokeLater = /\bread E|\bwrite E(?!PROTO)|BAD_RECORD|DECRYPTION_FAILED/;

/** Of the sender's own timer, which may go off just before ours. */
const timedOut = /\btimeout of \d+ ?ms exceeded/;

/** Whoever sends the request wraps network errors in layers of its own; the codes are somewhere among them. */
function collectErrorTexts(cause: unknown): { texts: string[]; codes: string[] } {
	const texts: string[] = [];
	const codes: string[] = [];
	let level = cause;
	for (let depth = 0; depth < 5 && typeof level === 'object' && level !== null; depth++) {
		const {
			code,
			httpCode,
			message,
			messages,
			cause: next,
			errors,
			errorResponse,
		} = level as Record<string, unknown>;
		for (const value of [code, httpCode]) if (typeof value === 'string') codes.push(value);
		if (Array.isArray(messages)) texts.push(...messages.filter((m) => typeof m === 'string'));
		if (typeof message === 'string' && message !== '') texts.push(message);
		// A host with several addresses gives one error for each.
		level = next ?? (Array.isArray(errors) ? errors[0] : errorResponse);
	}
	return { texts, codes };
}
