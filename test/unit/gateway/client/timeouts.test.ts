import { getEventListeners } from 'node:events';
import { type HttpResponse } from '../../../../nodes/shared/gateway/client/http';
import {
	abortable,
	readWithIdleTimeout,
	withTimeout,
} from '../../../../nodes/shared/gateway/client/timeouts';
import { TimeLimitError } from '../../../../nodes/shared/gateway/errors/networkError';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const clock = new SimulatedClock();
const never = new Promise<never>(() => undefined);
const later = async <T>(value: T) => {
	await clock.sleep(1000);
	return value;
};
const stopAfter = (milliseconds: number) => {
	const stop = new AbortController();
	void clock.sleep(milliseconds).then(() => stop.abort(new Error('stopped by the user')));
	return stop.signal;
};
const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('abortable promises', () => {
	it('settles as the promise does while nothing aborts it', async () => {
		const { signal } = new AbortController();
		await expect(abortable(later('done'), signal)).resolves.toBe('done');
		await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
		await expect(abortable(later('done'))).resolves.toBe('done');
	});

	it('rejects as soon as the signal aborts', async () => {
		await expect(abortable(never, stopAfter(500))).rejects.toThrow('stopped by the user');
		await expect(abortable(never, AbortSignal.abort(new Error('before')))).rejects.toThrow(
			'before',
		);
	});

	it('leaves no listener on the signal when the promise has settled', async () => {
		const { signal } = new AbortController();
		for (let count = 0; count < 20; count++) await abortable(Promise.resolve(), signal);
		expect(listenersOf(signal)).toBe(0);
	});
});

describe('work within a time limit', () => {
	const limit = { milliseconds: 5000, clock };

	it('returns the result of work within the time limit', async () => {
		await expect(withTimeout(limit, async () => await later('done'))).resolves.toBe('done');
	});

	it('rejects at the time limit, and aborts the work', async () => {
		let workSignal: AbortSignal | undefined;
		const start = clock.now();
		const work = withTimeout(limit, async (signal) => {
			workSignal = signal;
			return await never;
		});
		await expect(work).rejects.toThrow('the time limit of 5 s passed');
		expect(clock.now() - start).toBe(5000);
		expect(workSignal?.reason).toBeInstanceOf(TimeLimitError);
	});

	it.each([500, 0])('rejects at Stop (after %d ms), and aborts the work', async (milliseconds) => {
		let workSignal: AbortSignal | undefined;
		const signal =
			milliseconds === 0
				? AbortSignal.abort(new Error('stopped by the user'))
				: stopAfter(milliseconds);
		const work = withTimeout({ ...limit, signal }, async (inner) => {
			workSignal = inner;
			return await never;
		});
		await expect(work).rejects.toThrow('stopped by the user');
		expect(workSignal?.aborted).toBe(true);
	});

	it('leaves no listener and no unhandled rejection after the work', async () => {
		const { signal } = new AbortController();
		for (let count = 0; count < 20; count++) {
			await withTimeout({ ...limit, signal }, async () => undefined);
			await withTimeout({ ...limit, signal }, async () => {
				throw new Error('no');
			}).catch(() => undefined);
		}
		expect(listenersOf(signal)).toBe(0);
	});
});

describe('bodies with an idle timeout', () => {
	const chunk = Buffer.from('chunk');
	/** A response whose chunks arrive after these waits, in milliseconds; its body fails when it is closed. */
	const responseOf = (waits: number[], ending?: Error) => {
		const closing = new AbortController();
		const state = { closed: 0 };
		async function* body() {
			for (const wait of waits) {
				await clock.sleep(wait, closing.signal);
				yield chunk;
			}
			if (ending) throw ending;
		}
		const close = () => {
			state.closed++;
			closing.abort(new Error('closed'));
		};
		const response: HttpResponse = { status: 200, headers: {}, body: body(), close };
		return { response, state };
	};
	const read = async (
		{ response }: { response: HttpResponse },
		{ signal, consumer = 0 }: { signal?: AbortSignal; consumer?: number } = {},
	) => {
		let count = 0;
		for await (const bytes of readWithIdleTimeout(response, {
			clock,
			signal,
			idleTimeout: 10_000,
		})) {
			count += bytes.length / chunk.length;
			await clock.sleep(consumer);
		}
		return count;
	};

	it('passes a body on, and closes it at its end', async () => {
		const source = responseOf([1000, 9000, 9000]);
		await expect(read(source)).resolves.toBe(3);
		expect(source.state.closed).toBe(1);
	});

	it.each([
		['before the first byte', [10_001]],
		['between two bytes', [9000, 10_001]],
	])('closes a body when no bytes arrive for too long %s', async (_, waits) => {
		const source = responseOf(waits);
		await expect(read(source)).rejects.toThrow(new TimeLimitError(10_000));
		expect(source.state.closed).toBeGreaterThan(0);
	});

	it('does not count the time in which the consumer is busy as idle', async () => {
		await expect(read(responseOf([9000, 9000, 9000]), { consumer: 60_000 })).resolves.toBe(3);
	});

	it('counts the time as idle again when the consumer waits for bytes', async () => {
		const start = clock.now();
		await expect(read(responseOf([0, 90_000]), { consumer: 25_000 })).rejects.toThrow(
			TimeLimitError,
		);
		expect(clock.now() - start).toBeLessThanOrEqual(25_000 + 2 * 10_000);
	});

	it('rejects with the error of the body', async () => {
		await expect(read(responseOf([10], new Error('reset')))).rejects.toThrow('reset');
	});

	it('ends a body at Stop, before its start and in its middle', async () => {
		await expect(read(responseOf([10]), { signal: AbortSignal.abort() })).rejects.toThrow(
			'stopped',
		);
		const source = responseOf([10, 9000]);
		await expect(read(source, { signal: stopAfter(500) })).rejects.toThrow('stopped');
		expect(source.state.closed).toBeGreaterThan(0);
	});

	it('closes a body when its consumer stops reading, and leaves no listener', async () => {
		const { signal } = new AbortController();
		const { response, state } = responseOf([10, 10]);
		for await (const bytes of readWithIdleTimeout(response, {
			clock,
			signal,
			idleTimeout: 10_000,
		})) {
			expect(bytes).toBe(chunk);
			break;
		}
		expect(state.closed).toBe(1);
		expect(listenersOf(signal)).toBe(0);
	});
});
