/**
 * What this client needs of its runtime: a way to send one HTTP request, a clock and random numbers. All are
 * injected, so that it runs anywhere and tests can control time and randomness.
 */
import type { AdaptiveLimit } from './adaptiveLimit';
import type { Clock } from './clock';
import type { RequestQueue } from './requestQueue';

export type { Clock } from './clock';

export interface HttpRequest {
	method: 'GET' | 'POST';
	url: string;
	headers: Record<string, string>;
	/** JSON, or a multipart form. */
	body?: string | FormData;
	/** Whether the API key is sent. True for the base and backup URL only. */
	authenticated: boolean;
	/** Maximum wait for the head of the response, in milliseconds. */
	timeout: number;
	signal?: AbortSignal;
}

/** Whether the text is a valid header name (RFC 9110, 5.6.2). */
export function isHeaderName(text: string): boolean {
	return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

/** Whether requests have a header of this name already, which this client or HTTP itself sets. */
export function isTakenHeader(name: string): boolean {
	return /^(accept.*|authorization|connection|content-.*|cookie|expect|host|te|trailer|transfer-encoding|upgrade|user-agent)$/i.test(
		name,
	);
}

export interface HttpResponse {
	status: number;
	/** Names in lower case. */
	headers: Record<string, string>;
	/** Decoded from gzip, deflate and br; throws when the connection breaks. */
	body: AsyncIterable<Uint8Array>;
	/** Ends the transfer; does nothing when it has ended. */
	close(): void;
}

/**
 * Sends one request and follows no redirect. Resolves with any response, whatever its status; rejects,
 * with the network's own error, only when no response came.
 */
export type Http = (request: HttpRequest) => Promise<HttpResponse>;

/** The runtime of this client. */
export interface Runtime {
	http: Http;
	clock: Clock;
	/** Between 0 and 1. */
	random: () => number;
	/** Aborts when the user presses Stop. */
	signal?: AbortSignal;
	/** Milliseconds that a paid request may still take after Stop, so that its result is kept. Default: none. */
	graceOnStop?: number;
	/** Limits the requests in flight, and lowers that limit while the service answers 429. Default: no limit. */
	limiter?: AdaptiveLimit;
	/** Holds back the requests with the key, as the limits of its credential say. Default: it has none. */
	queue?: RequestQueue;
	/** Aborts when what waits in that queue is no longer to be sent. What was sent goes on. */
	closing?: AbortSignal;
	/** Nothing is sent: each call throws its request as a `DryRun`. */
	isDry?: true;
}
