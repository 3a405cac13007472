/** The runtime of this client. It is handed in, so that the client runs anywhere and tests control time and chance. */
import type { AdaptiveLimit } from './adaptiveLimit';
import type { Clock } from './clock';
import type { Idempotency } from './idempotency';
import type { RequestQueue } from './requestQueue';

export type { Clock } from './clock';

export interface HttpRequest {
	method: 'GET' | 'POST';
	url: string;
	headers: Record<string, string>;
	body?: string | FormData;
	/** Whether the API key is sent. True for the base and backup URL only. */
	authenticated: boolean;
	/** Maximum wait for the head of the response, in milliseconds. */
	timeout: number;
	signal?: AbortSignal;
}

/** RFC 9110, 5.6.2. */
export function isHeaderName(text: string): boolean {
	return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

/** Whether this client or HTTP itself sets a header of this name. */
export function isReservedHeader(name: string): boolean {
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
 * Sends one request and follows no redirect. Resolves with any response, whatever its status; rejects with the network's
 * own error when no response arrived.
 */
export type Http = (request: HttpRequest) => Promise<HttpResponse>;

export interface Runtime {
	http: Http;
	clock: Clock;
	/** Between 0 and 1. */
	random: () => number;
	/** Aborts when the user presses Stop. */
	signal?: AbortSignal;
	/** Milliseconds that a charged request may still take after Stop, so that its result is kept. Default: none. */
	graceOnStop?: number;
	/** Limits the requests in flight; to fewer while the service responds with 429. Default: no limit. */
	limiter?: AdaptiveLimit;
	/** Keeps the requests with the key within the limits of its credential. Default: no limits. */
	queue?: RequestQueue;
	/** Aborts when the requests that still wait must not be sent any more. Those already sent continue. */
	closing?: AbortSignal;
	/** Protects the one order that is placed with this runtime. */
	idempotency?: Idempotency;
	/** Each call throws its request as a `DryRun` instead of sending it. */
	isDry?: true;
}
