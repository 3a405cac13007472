import { TimeLimitError } from '../errors/timeLimitError';
import type { Clock, HttpResponse, Runtime } from './http';

/** Settles as the promise does, but rejects with the signal's reason as soon as that aborts. */
export async function abortable<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
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

/**
 * Runs `work` for at most that many milliseconds. The work's own signal aborts when the time is up or
 * `signal` aborts, and the promise then rejects at once, whether or not the work heeds its signal.
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
export async function* readWithIdleTimeout(
	response: HttpResponse,
	{ clock, signal, silence: idleTimeout }: Pick<Runtime, 'clock' | 'signal'> & { silence: number },
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
		for (let left = idleTimeout; left > 0;) {
			await clock.sleep(left, finished.signal);
			left = silentSince === undefined ? idleTimeout : silentSince + idleTimeout - clock.now();
		}
		end(new TimeLimitError(idleTimeout));
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
