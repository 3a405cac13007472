import { TimeLimitError } from '../errors/networkError';
import type { HttpResponse, Runtime } from './http';
import { done } from './timeouts';

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
