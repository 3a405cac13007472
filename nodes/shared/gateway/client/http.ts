/**
 * What this client needs of its runtime: a way to send one HTTP request, a clock and chance. All are handed in,
 * so that it runs anywhere, and tests can repeat time and chance.
 */
import type { AdaptiveLimit } from './adaptiveLimit';

export interface HttpRequest {
	method: 'GET' | 'POST';
	url: string;
	headers: Record<string, string>;
	/** JSON, or a multipart form. */
	body?: string | FormData;
	/** Whether the API key goes along. True for the base and backup URL only. */
	authenticated: boolean;
	/** Longest wait for the head of the answer, in milliseconds. */
	timeout: number;
	signal?: AbortSignal;
}

/** What the name of a header may be made of (RFC 9110, 5.6.2). */
export function isHeaderName(text: string): boolean {
	return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

export interface HttpResponse {
	status: number;
	/** Names in lower case. */
	headers: Record<string, string>;
	/** Decoded from gzip, deflate and br; throws when the connection breaks. */
	body: AsyncIterable<Uint8Array>;
	/** Ends the transfer; harmless when it has ended. */
	close(): void;
}

/**
 * Sends one request and follows no redirect. Resolves with any answer, whatever its status; rejects,
 * with the network's own error, only when no answer came.
 */
export type Http = (request: HttpRequest) => Promise<HttpResponse>;

export interface Clock {
	/** Milliseconds since 1970. */
	now(): number;
	/** Resolves after that many milliseconds; rejects with the signal's reason when it aborts first. */
	sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Where this client runs. */
export interface Runtime {
	http: Http;
	clock: Clock;
	/** Between 0 and 1. */
	random: () => number;
	/** Aborts when the user presses Stop. */
	signal?: AbortSignal;
	/** Milliseconds that Stop leaves to a paid request, of whose answer something is kept. Default: none. */
	graceOnStop?: number;
	/** How many requests are in flight at most; fewer while the service has too many. Default: no limit. */
	limiter?: AdaptiveLimit;
}
