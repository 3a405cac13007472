import type { HttpResponse } from '../../../../nodes/shared/gateway/client/http';
import { readWithIdleTimeout } from '../../../../nodes/shared/gateway/client/timeouts';
import { SimulatedClock } from '../../../support/time/simulatedClock';

/** A response with these chunks, which then sends nothing until it is closed. */
function responseWith(...chunks: Uint8Array[]) {
	const closing = new AbortController();
	async function* bodyOf() {
		yield* chunks;
		await new Promise<never>((_, reject) => {
			closing.signal.addEventListener('abort', () => reject(new Error('aborted')));
		});
	}
	const response: HttpResponse = {
		...{ status: 200, headers: {}, body: bodyOf() },
		close: () => closing.abort(),
	};
	return { response, closed: closing.signal };
}

describe('reading with an idle timeout', () => {
	const chunk = Buffer.from('chunk');
	const clock = new SimulatedClock();
	const read = ({ response }: ReturnType<typeof responseWith>) =>
		readWithIdleTimeout(response, { clock, idleTimeout: 60_000 });

	it("gives the consumer's own error back at once, and closes the response", async () => {
		const given = responseWith(chunk);
		const bytes = read(given);
		await bytes.next();
		const error = new Error('disk full');
		await expect(bytes.throw(error)).rejects.toBe(error);
		expect(given.closed.aborted).toBe(true);
		await expect(bytes.next()).resolves.toMatchObject({ done: true });
	});

	it('ends at once when the consumer wants no more, although no byte arrives', async () => {
		const given = responseWith(chunk);
		const bytes = read(given);
		await bytes.next();
		await expect(bytes.return()).resolves.toMatchObject({ done: true });
		expect(given.closed.aborted).toBe(true);
	});

	it('ends with the time limit when no byte arrives', async () => {
		const bytes = read(responseWith(chunk));
		await bytes.next();
		await expect(bytes.next()).rejects.toThrow('the time limit of 60 s passed');
	});
});
