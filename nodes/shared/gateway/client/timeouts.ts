import { TimeLimitError } from '../errors/networkError';
import type { Clock, HttpResponse, Runtime } from './http';

/** Settles as the promise does, but rejects with the signal's reason as soon as the signal aborts. */
export async function abortable<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
	if (signal === undefined) return await promise;
	let abort: () => void = () => undefined;
	const aborted = new Promise<never>((_, reject) => {
		abort = () => reject(signal.reason);
	});
	signal.addEventListener('abort', abort, { once: true });
	if (signal.aborted) abort();
	try {
		return await Promise.race([aborted, promise]);
	} finally {
		// The signal lives as long as the execution, and thousands of listeners would pile up on it.
		signal.removeEventListener('abort', abort);
	}
}

/** Ends timers that are no longer needed. The reason is shared: without one, each abort creates an error. */
const done = new Error('done');

/**
 * Runs `work` for at most `milliseconds`. The signal given to the work aborts when the time is up or
 * `signal` aborts, and the promise then rejects at once, whether or not the work obeys its signal.
 * @param limit `grace`: milliseconds that the work still has once `signal` aborts
 */
export async function withTimeout<T>(
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
	const expire = async () => {
		// Rejects with the signal's reason when the work ends or is stopped first.
		await clock.sleep(milliseconds, inner.signal);
		const timeIsUp = new TimeLimitError(milliseconds);
		inner.abort(timeIsUp);
		throw timeIsUp;
	};
	try {
		return await Promise.race([expire(), work(inner.signal)]);
	} finally {
		inner.abort(done);
		signal?.removeEventListener('abort', stop);
	}
}

/**
 * The bytes of a body that may be huge. After `idleTimeout` milliseconds without a byte, and on Stop, the transfer
 * ends with an error.
 */
export async function* readWithIdleTimeout(
	response: HttpResponse,
	{ clock, signal, idleTimeout }: Pick<Runtime, 'clock' | 'signal'> & { idleTimeout: number },
): AsyncGenerator<Uint8Array, void, undefined> {
	const finished = new AbortController();
	/** Undefined while the consumer is busy: a slow disk does not count as an idle server. */
	let idleSince: number | undefined = clock.now();
	let failure: Error | undefined;
	const fail = (error: Error) => {
		failure ??= error;
		response.close();
	};
	const stop = () => fail(new Error('stopped'));
	// One timer at a time, however many chunks pass.
	const watch = async () => {
		for (let remaining = idleTimeout; remaining > 0;) {
			await clock.sleep(remaining, finished.signal);
			remaining = idleSince === undefined ? idleTimeout : idleSince + idleTimeout - clock.now();
		}
		fail(new TimeLimitError(idleTimeout));
	};
	signal?.addEventListener('abort', stop, { once: true });
	watch().catch(() => undefined);
	const chunks = response.body[Symbol.asyncIterator]();
	/** The only step that the source can fail. What the consumer throws in comes in at the `yield`. */
	const next = async () => {
		try {
			const chunk = await chunks.next();
			if (failure === undefined) return chunk;
		} catch (error) {
			failure ??= error instanceof Error ? error : new Error(String(error));
		}
		throw failure;
	};
	try {
		if (signal?.aborted) stop();
		for (let chunk = await next(); !chunk.done; chunk = await next()) {
			idleSince = undefined;
			yield chunk.value;
			idleSince = clock.now();
		}
	} finally {
		finished.abort(done);
		signal?.removeEventListener('abort', stop);
		// Ending the iteration of the body instead could wait for its next byte.
		response.close();
	}
}

/**
 * The time that the tries of one request have, without the pauses between them. Where it is shared, they have it together:
 * nobody waits for a long response several times. The other base URL has its own.
 */
export class TimeBudget {
	private readonly spent = new Map<string, number>();

	constructor(
		private readonly milliseconds: number,
		private readonly clock: Clock,
		private readonly options: { isShared: boolean },
	) {}

	left(base: string): number {
		return this.milliseconds - (this.spent.get(base) ?? 0);
	}

	spend(base: string, startedAt: number): void {
		if (!this.options.isShared) return;
		this.spent.set(base, (this.spent.get(base) ?? 0) + this.clock.now() - startedAt);
	}
}

/** Milliseconds. In less time, a response would hardly arrive. */
export const minTryTime = 100;
