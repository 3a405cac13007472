import { TimeLimitError } from '../errors/networkError';
import type { Clock } from './clock';

export function anySignal(...signals: Array<AbortSignal | undefined>): AbortSignal {
	return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

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

/** Milliseconds; timers take no more than 24 days. A longer patience counts as none. */
export const longestSleep = 3_600_000;

/** Whether `wait` ends before the signal aborts and `patience` milliseconds pass. Its own signal aborts afterwards. */
export async function isInTime(
	wait: (signal: AbortSignal) => Promise<unknown>,
	clock: Clock,
	{ signal, patience = Infinity }: { signal: AbortSignal; patience?: number },
): Promise<boolean> {
	const waitOver = new AbortController();
	const abortSignal = AbortSignal.any([waitOver.signal, signal]);
	const giveUp = () => waitOver.abort(done);
	if (patience <= longestSleep) clock.sleep(patience, abortSignal).then(giveUp, () => undefined);
	try {
		await wait(abortSignal);
		return true;
	} catch {
		return false;
	} finally {
		waitOver.abort(done);
	}
}

/** Ends timers that are no longer needed. The reason is shared: without one, each abort creates an error. */
const done = new Error('done');

/**
 * Runs `work` for at most `milliseconds`. Its own signal aborts when the time is up or `signal` aborts, and the promise
 * then rejects at once, whether or not the work obeys.
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
