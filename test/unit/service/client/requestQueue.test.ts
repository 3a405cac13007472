import { RequestQueue, type Limits } from '../../../../nodes/shared/service/client/requestQueue';
import { SimulatedClock } from '../../../support/time/simulatedClock';

interface PlannedRequest {
	sender?: number;
	/** In milliseconds: how long its response takes, and when its sender is stopped. */
	takes?: number;
	stopAt?: number;
}

/** Sends these requests. @returns when each was sent, in milliseconds; undefined when it was not */
async function sendAll(planned: PlannedRequest[], limits: Limits) {
	const clock = new SimulatedClock();
	const start = clock.now();
	const senders = new Map<number, RequestQueue | undefined>();
	return await Promise.all(
		planned.map(async ({ sender = 0, takes = 0, stopAt }) => {
			const queue = senders.get(sender) ?? RequestQueue.of({ key: 'sk', limits }, clock);
			senders.set(sender, queue);
			const stop = new AbortController();
			if (stopAt !== undefined) void clock.sleep(stopAt).then(() => stop.abort());
			const leave = await queue?.enter({ signal: stop.signal });
			if (leave === undefined) return undefined;
			const sentAt = clock.now() - start;
			await clock.sleep(takes);
			// Once or more often.
			leave();
			leave();
			return sentAt;
		}),
	);
}

describe('the limits of a key', () => {
	it.each<[string, Limits, PlannedRequest[], Array<number | undefined>]>([
		[
			'one request of each sender in turn',
			{ requestsPerSecond: 1 },
			[{}, {}, {}, { sender: 1 }, { sender: 1 }],
			[0, 1100, 3300, 2200, 4400],
		],
		[
			'so many requests in flight',
			{ requestsInFlight: 2 },
			[{ takes: 500 }, { takes: 700 }, { takes: 900 }, {}],
			[0, 0, 500, 700],
		],
		[
			'the next request when one that waits is stopped',
			{ requestsInFlight: 1 },
			[{ takes: 1000 }, { stopAt: 100 }, {}],
			[0, undefined, 1000],
		],
		['one request in two seconds', { requestsPerSecond: 0.5 }, [{}, {}], [0, 2100]],
		['whole requests in a second', { requestsPerSecond: 2.5 }, [{}, {}, {}], [0, 550, 1100]],
	])('let go %s', async (_, limits, planned, expected) => {
		expect(await sendAll(planned, limits)).toEqual(expected);
	});

	it.each([
		[1, 20],
		[50, 1_000],
	])(
		'keeps the limit of %d requests per second, and delays %d requests by at most a tenth',
		async (rate, count) => {
			const planned = Array.from({ length: count }, (_, index) => ({
				sender: index % 3,
				takes: 20_000,
			}));
			const sent = await sendAll(planned, { requestsPerSecond: rate });
			const last = Math.max(...sent.map((at = NaN) => at));
			expect(last).toBeLessThanOrEqual((1.1 * 1000 * (count - 1)) / rate);
			expect(last).toBeGreaterThanOrEqual((1000 * (count - 1)) / rate - 20);
		},
	);
});
