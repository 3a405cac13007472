/** Thrown when a time limit has passed. */
export class TimeLimitError extends Error {
	constructor(readonly milliseconds: number) {
		super(`the time limit of ${Math.round(milliseconds / 100) / 10} s passed`);
	}
}

/** What can be read from the network's own error. */
interface NetworkError {
	/** Whether the request was never sent, since no connection could be made. */
	isUnsent: boolean;
	/** Whether the time limit passed. */
	isTimeout: boolean;
	/** Its codes and messages, each once. */
	texts: string[];
}

/** @param cause the network's own error, possibly wrapped by a layer above */
export function readNetworkError(cause: unknown): NetworkError {
	const { texts, codes } = collectErrorTexts(cause);
	const words = [...codes, ...texts];
	const isTimeout = cause instanceof TimeLimitError || words.some((text) => timedOut.test(text));
	const isUnsent =
		words.some((text) => neverSent.test(text)) &&
		!words.some((text) => brokeAfterConnecting.test(text));
	return { isUnsent, isTimeout, texts: [...new Set(words)] };
}

/** Codes and messages of failures before a request is sent: name lookup, connecting, TLS. */
const neverSent =
	/ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ERR_INVALID_URL|Invalid URL|CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|SSL routines|secure TLS connection was established|certificate|connect ETIMEDOUT|blocked/;

/** Messages of a connection that broke while it was in use: the request may have been sent by then. */
const brokeAfterConnecting = /\bread E|\bwrite E(?!PROTO)|BAD_RECORD|DECRYPTION_FAILED/;

/** The message of the HTTP client's own timeout, which may fire just before ours. */
const timedOut = /\btimeout of \d+ ?ms exceeded/;

/** HTTP clients wrap network errors in several layers of their own; the codes may be in any of them. */
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
		// A host with several addresses causes one error for each of them.
		level = next ?? (Array.isArray(errors) ? errors[0] : errorResponse);
	}
	return { texts, codes };
}
