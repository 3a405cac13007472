import { RequestQueue, type Limits } from '../../../../nodes/shared/service/client/requestQueue';
import { fc, tries } from '../../../support/data/fuzz';
import { SimulatedClock } from '../../../support/time/simulatedClock';

interface PlannedRequest {
	sender: number;
	/**
	 * In milliseconds: when it asks to be sent, how long its response takes, and how long it travels to the service.
	 */
	at: number;
	takes: number;
	travels: number;
	/** When its sender is stopped. */
	stopAt?: number;
}

interface Sent extends PlannedRequest {
	sentAt: number;
	arrivedAt: number;
	endedAt: number;
	/** Whether no other request of its sender was waiting when it entered. */
	isFirst: boolean;
}

/** Sends the planned requests; returns those that were sent, in this order. */
async function sendAll(
	planned: PlannedRequest[],
	limitsOf: (sender: number) => Limits,
): Promise<Sent[]> {
	const clock = new SimulatedClock();
	const start = clock.now();
	const senders = new Map<number, RequestQueue>();
	const waiting = new Map<number, number>();
	const sent: Sent[] = [];
	await Promise.all(
		planned.map(async (plan) => {
			const { sender, at, takes, travels, stopAt } = plan;
			const queue =
				senders.get(sender) ?? RequestQueue.of({ key: 'sk', limits: limitsOf(sender) }, clock);
			senders.set(sender, queue as RequestQueue);
			const stop = new AbortController();
			if (stopAt !== undefined) void clock.sleep(stopAt).then(() => stop.abort());
			await clock.sleep(at);
			const before = waiting.get(sender) ?? 0;
			waiting.set(sender, before + 1);
			const leave = await queue?.enter({ signal: stop.signal });
			waiting.set(sender, (waiting.get(sender) ?? 0) - 1);
			if (leave === undefined) return;
			const sentAt = clock.now() - start;
			const request = { ...plan, sentAt, arrivedAt: sentAt + travels, endedAt: 0 };
			const result = { ...request, isFirst: before === 0 };
			sent.push(result);
			await clock.sleep(takes);
			result.endedAt = clock.now() - start;
			leave();
			leave();
		}),
	);
	return sent;
}

/** The maximum number of requests in any period of this length, without its end. */
function maxIn(times: number[], length: number): number {
	const sorted = [...times].sort((a, b) => a - b);
	const counts = sorted.map(
		(start, index) => sorted.slice(index).filter((time) => time < start + length).length,
	);
	return Math.max(0, ...counts);
}

const rates = fc.oneof(
	fc.constant(undefined),
	fc.integer({ min: 1, max: 60 }),
	fc.double({ min: 0.05, max: 9, noNaN: true }),
);
const plan = fc.record({
	sender: fc.nat(5),
	at: fc.nat(4_000),
	takes: fc.nat(3_000),
	travels: fc.nat(79),
	stopAt: fc.option(fc.nat(20_000), { nil: undefined, freq: 8 }),
});
const limits = fc.record({
	requestsPerSecond: rates,
	requestsInFlight: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
});

describe('the limits of a key', () => {
	it('keeps both limits for any requests, and neither loses nor starves one', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(plan, { maxLength: 60 }),
				limits,
				async (planned, { requestsPerSecond: rate = Infinity, requestsInFlight = Infinity }) => {
					const both = { requestsPerSecond: rate, requestsInFlight };
					const sent = await sendAll(planned, () => both);

					const arrived = sent.map(({ arrivedAt }) => arrivedAt);
					if (rate < 1) expect(maxIn(arrived, 1000 / rate)).toBeLessThanOrEqual(1);
					else expect(maxIn(arrived, 1000)).toBeLessThanOrEqual(Math.floor(rate));

					for (const { sentAt } of sent) {
						const running = sent.filter(
							(other) => other.sentAt <= sentAt && other.endedAt > sentAt,
						);
						expect(running.length).toBeLessThanOrEqual(requestsInFlight);
					}

					const isStopped = ({ stopAt = Infinity }: PlannedRequest) => stopAt < Infinity;
					expect(sent.filter((one) => !isStopped(one))).toHaveLength(
						planned.filter((one) => !isStopped(one)).length,
					);
					for (const { sentAt, stopAt = Infinity } of sent) {
						expect(sentAt).toBeLessThanOrEqual(stopAt);
					}

					// While a sender waits, every other sender has at most one turn.
					sent.forEach(({ sender, at, sentAt, isFirst }, index) => {
						if (!isFirst) return;
						const meanwhile = sent
							.slice(0, index)
							.filter((other) => other.sentAt > at && other.sentAt <= sentAt);
						const others = meanwhile.map((other) => other.sender);
						expect(new Set(others).size).toBe(others.length);
						expect(others).not.toContain(sender);
					});
				},
			),
			tries(500),
		);
	});

	it.each([
		[1, 20],
		[50, 1_000],
	])(
		'keeps the limit of %d requests per second, and delays %d requests by at most a tenth',
		async (rate, count) => {
			const planned = Array.from({ length: count }, (_, sender) => ({
				sender: sender % 3,
				at: 0,
				takes: 20_000,
				travels: 0,
			}));
			const sent = await sendAll(planned, () => ({ requestsPerSecond: rate }));
			const last = sent[count - 1].sentAt;
			expect(last).toBeLessThanOrEqual((1.1 * 1000 * (count - 1)) / rate);
			expect(last).toBeGreaterThanOrEqual((1000 * (count - 1)) / rate - 20);
		},
	);
});
