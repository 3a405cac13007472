import { jobTurns, takeTurn } from '../../../../nodes/shared/gateway/client/jobTurns';
import { fc } from '../../../support/data/fuzz';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const interval = 3000;
const maxHold = 10_000;

interface Request {
	id: string;
	at: number;
	takes: number;
	isSent: boolean;
	patience?: number;
	stopAt?: number;
}

/** Sends all requests; returns when each was sent, and which gave up when. */
async function sendAll(requests: Request[], clock = new SimulatedClock()) {
	const start = clock.now();
	const sent: Array<Request & { sentAt: number }> = [];
	const gaveUp: Array<Request & { leftAt: number }> = [];
	await Promise.all(
		requests.map(async (request) => {
			const { id, at, takes, isSent, patience, stopAt } = request;
			const stop = new AbortController();
			if (stopAt !== undefined) void clock.sleep(stopAt).then(() => stop.abort());
			await clock.sleep(at);
			const waiting = () => ({ signal: stop.signal, patience });
			const turn = await takeTurn({ key: 'a-key', id, interval }, clock, waiting);
			const now = clock.now() - start;
			if (turn === undefined) {
				gaveUp.push({ ...request, leftAt: now });
				return;
			}
			turn.start();
			if (isSent) sent.push({ ...request, sentAt: now });
			await clock.sleep(takes);
			turn.end(isSent);
		}),
	);
	return { sent, gaveUp, now: () => clock.now() - start };
}

const request = (more: Partial<Request> = {}): Request => ({
	...{ id: 'job_1', at: 0, takes: 0, isSent: true },
	...more,
});
const times = ({ sent }: Awaited<ReturnType<typeof sendAll>>) => sent.map(({ sentAt }) => sentAt);

describe('requests about one job', () => {
	it('sends each request about a job one interval after the end of the last, in order', async () => {
		const requests = [request({ takes: 500 }), request(), request({ at: 4000 })];
		expect(times(await sendAll(requests))).toEqual([0, 3500, 6500]);
	});

	it('does not wait for the interval after a request that was never sent', async () => {
		const requests = [request({ isSent: false, takes: 100 }), request()];
		expect(times(await sendAll(requests))).toEqual([100]);
	});

	it('waits at most 10 s and the interval for a request without a response', async () => {
		const requests = [request({ takes: 600_000 }), request(), request()];
		expect(times(await sendAll(requests))).toEqual([0, 13_000, 16_000]);
	});

	it('gives up on a request at its patience or at Stop, and delays no other', async () => {
		const { sent, gaveUp } = await sendAll([
			...[request(), request({ patience: 1000 }), request({ stopAt: 2000 }), request()],
		]);
		expect(gaveUp.map(({ leftAt }) => leftAt)).toEqual([1000, 2000]);
		expect(sent.map(({ sentAt }) => sentAt)).toEqual([0, 3000]);
	});

	it('waits for the turn of a request with endless patience', async () => {
		const requests = [request(), request({ patience: Number.MAX_SAFE_INTEGER })];
		expect(times(await sendAll(requests))).toEqual([0, 3000]);
	});

	it('waits no longer than the interval when the clock is set back', async () => {
		const clock = new SimulatedClock();
		await sendAll([request()], clock);
		clock.move(-3_600_000);
		const began = clock.now();
		await sendAll([request()], clock);
		expect(clock.now() - began).toBe(interval);
	});

	it('keeps the interval between requests about a job, whatever requests there are', async () => {
		const requests = fc.array(
			fc.record({
				id: fc.constantFrom('job_1', 'job_2'),
				at: fc.nat(20_000),
				takes: fc.constantFrom(0, 10, 2000, 20_000),
				isSent: fc.constantFrom(true, true, false),
				patience: fc.constantFrom(undefined, 0, 100, 5000, 60_000),
				stopAt: fc.option(fc.nat(20_000), { nil: undefined }),
			}),
			{ maxLength: 12 },
		);
		await fc.assert(
			fc.asyncProperty(requests, async (all) => {
				const { sent, gaveUp } = await sendAll(all);
				for (const id of ['job_1', 'job_2']) {
					const own = sent.filter((one) => one.id === id);
					for (const [index, { sentAt }] of own.slice(1).entries()) {
						const before = own[index];
						const held = Math.min(before.takes, maxHold);
						expect(sentAt - before.sentAt).toBeGreaterThanOrEqual(interval + held);
					}
				}
				for (const { at, patience = Infinity, stopAt = Infinity, leftAt } of gaveUp) {
					expect(leftAt).toBe(Math.max(at, Math.min(at + patience, stopAt)));
				}
			}),
		);
	});

	it('frees the memory of a job once its interval has passed', async () => {
		const clock = new SimulatedClock();
		const ids = Array.from({ length: 1000 }, (_, index) => `job_${index}`);
		await sendAll(
			ids.map((id) => request({ id })),
			clock,
		);
		expect(jobTurns.get(clock)?.size).toBe(1000);
		await clock.sleep(interval);
		await sendAll([request()], clock);
		expect(jobTurns.get(clock)?.size).toBe(1);
	});
});
