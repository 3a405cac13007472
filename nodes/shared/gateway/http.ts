/**
 * What the gateway layer needs of the world: a way to send one HTTP request, and a clock. Both are
 * handed in: n8n's request helper and timers in the nodes, axios and a simulated clock in tests.
 */
import type { Slots } from './slots';

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

/** What the gateway layer needs of the world; handed in, so that tests can repeat time and chance. */
export interface World {
	http: Http;
	clock: Clock;
	/** Between 0 and 1. */
	random: () => number;
	/** Aborts when the user presses Stop. */
	signal?: AbortSignal;
	/** Milliseconds that Stop leaves to a paid request, of whose answer something is kept. Default: none. */
	graceOnStop?: number;
	/** How many requests are in flight at most; fewer while the service has too many. Default: no limit. */
	pace?: Slots;
}

/** Settles as the promise does, but rejects with the signal's reason as soon as that aborts. */
export async function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
	if (signal === undefined) return await promise;
	let abort: () => void = () => undefined;
	const abortion = new Promise<never>((_, reject) => {
		abort = () => reject(signal.reason);
	});
	signal.addEventListener('abort', abort, { once: true });
	if (signal.aborted) abort();
	try {
		return await Promise.race([abortion, promise]);
	} finally {
		// The signal lives as long as the execution, and there may be thousands of these.
		signal.removeEventListener('abort', abort);
	}
}

/** Ends timers that are not needed any more. An abort without a reason makes an error, with its stack, each time. */
const done = new Error('done');

/** Thrown by {@link within} when the time is up. */
export class TimeLimitError extends Error {
	constructor(readonly milliseconds: number) {
		super(`the time limit of ${Math.round(milliseconds / 100) / 10} s passed`);
	}
}

/**
 * Runs `work` for at most that many milliseconds. The work's own signal aborts when the time is up or
 * `signal` aborts, and the promise then rejects at once, whether or not the work heeds its signal.
 * @param limit `grace`: milliseconds that the work still has once `signal` aborts
 */
export async function within<T>(
	limit: { milliseconds: number; clock: Clock; signal?: AbortSignal; grace?: number },
	work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
	const { milliseconds, clock, signal, grace } = limit;
	const inner = new AbortController();
	const abort = () => inner.abort(signal?.reason);
	const stop = () => {
		if (grace === undefined) abort();
		else clock.sleep(grace, inner.signal).then(abort, () => undefined);
	};
	signal?.addEventListener('abort', stop, { once: true });
	if (signal?.aborted) stop();
	const end = async () => {
		// Rejects with the reason of the stop.
		await clock.sleep(milliseconds, inner.signal);
		const timeIsUp = new TimeLimitError(milliseconds);
		inner.abort(timeIsUp);
		throw timeIsUp;
	};
	try {
		return await Promise.race([end(), work(inner.signal)]);
	} finally {
		inner.abort(done);
		signal?.removeEventListener('abort', stop);
	}
}

/**
 * The bytes of a body that may be huge: ends the transfer after `silence` milliseconds without a byte,
 * and on Stop, in both cases with an error.
 */
export async function* guardedBody(
	response: HttpResponse,
	{ clock, signal, silence }: Pick<World, 'clock' | 'signal'> & { silence: number },
): AsyncGenerator<Uint8Array, void, undefined> {
	const finished = new AbortController();
	/** Undefined while the consumer is busy: a slow disk is no silence of the other side. */
	let silentSince: number | undefined = clock.now();
	let ended: Error | undefined;
	const end = (why: Error) => {
		ended ??= why;
		response.close();
	};
	const stop = () => end(new Error('stopped'));
	// One timer at a time, however many chunks pass.
	const watch = async () => {
		for (let left = silence; left > 0;) {
			await clock.sleep(left, finished.signal);
			left = silentSince === undefined ? silence : silentSince + silence - clock.now();
		}
		end(new TimeLimitError(silence));
	};
	signal?.addEventListener('abort', stop, { once: true });
	watch().catch(() => undefined);
	try {
		if (signal?.aborted) stop();
		for await (const bytes of response.body) {
			silentSince = undefined;
			yield bytes;
			silentSince = clock.now();
		}
	} catch (error) {
		ended ??= error instanceof Error ? error : new Error(String(error));
	} finally {
		finished.abort(done);
		signal?.removeEventListener('abort', stop);
		response.close();
	}
	if (ended !== undefined) throw ended;
}
