import { getEventListeners } from 'node:events';
import { type HttpResponse } from '../../../../nodes/shared/gateway/client/http';
import { readWithIdleTimeout } from '../../../../nodes/shared/gateway/client/timeouts';
import { TimeLimitError } from '../../../../nodes/shared/gateway/errors/networkError';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const clock = new SimulatedClock();
const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

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
