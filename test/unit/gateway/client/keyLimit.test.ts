import { KeyLimit, type Limits } from '../../../../nodes/shared/gateway/client/keyLimit';
import { fc, tries } from '../../../support/fuzz';
import { SimulatedClock } from '../../../support/simulatedClock';

interface Order {
	/** Number of the one who sends it. */
	sender: number;
	/** When it is to be sent, how long its answer takes, and how long its way to the service. */
	at: number;
	takes: number;
	travels: number;
	/** When its sender is stopped. */
	stopAt?: number;
}

interface Sent extends Order {
	sentAt: number;
	arrivedAt: number;
	endedAt: number;
	/** Whether nothing of its sender was waiting when it came. */
	isFirst: boolean;
}

/** Sends all, and tells what was sent, in this order. */
async function sendAll(
	orders: Order[],
	limitsOf: (sender: number) => Limits,
	{ clock = new SimulatedClock(), limit = new KeyLimit(clock) } = {},
): Promise<Sent[]> {
	const start = clock.now();
	const senders = new Map<number, Limits>();
	const waiting = new Map<number, number>();
	const sent: Sent[] = [];
	await Promise.all(
		orders.map(async (order) => {
			const { sender, at, takes, travels, stopAt } = order;
			if (!senders.has(sender)) senders.set(sender, { ...limitsOf(sender) });
			const stop = new AbortController();
			if (stopAt !== undefined) void clock.sleep(stopAt).then(() => stop.abort());
			await clock.sleep(at);
			const before = waiting.get(sender) ?? 0;
			waiting.set(sender, before + 1);
			const leave = await limit.enter(senders.get(sender) as Limits, { signal: stop.signal });
			waiting.set(sender, (waiting.get(sender) ?? 0) - 1);
			if (leave === undefined) return;
			const sentAt = clock.now() - start;
			const request = { ...order, sentAt, arrivedAt: sentAt + travels, endedAt: 0 };
			const result = { ...request, isFirst: before === 0 };
			sent.push(result);
			await clock.sleep(takes);
			result.endedAt = clock.now() - start;
			leave();
			leave();
		}),
	);
	await clock.sleep(3_600_000);
	expect(limit.isIdle).toBe(true);
	return sent;
}

/** The most requests in any time of this length, its end not included. */
function mostIn(times: number[], length: number): number {
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
const order = fc.record({
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
	it('hold for any requests, and neither lose nor starve one', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(order, { maxLength: 60 }),
				limits,
				async (orders, { requestsPerSecond: rate = Infinity, requestsInFlight = Infinity }) => {
					const sent = await sendAll(orders, () => ({
						requestsPerSecond: rate,
						requestsInFlight,
					}));

					const arrived = sent.map(({ arrivedAt }) => arrivedAt);
					if (rate < 1) expect(mostIn(arrived, 1000 / rate)).toBeLessThanOrEqual(1);
					else expect(mostIn(arrived, 1000)).toBeLessThanOrEqual(Math.floor(rate));

					for (const { sentAt } of sent) {
						const running = sent.filter(
							(other) => other.sentAt <= sentAt && other.endedAt > sentAt,
						);
						expect(running.length).toBeLessThanOrEqual(requestsInFlight);
					}

					const isStopped = ({ stopAt = Infinity }: Order) => stopAt < Infinity;
					expect(sent.filter((one) => !isStopped(one))).toHaveLength(
						orders.filter((one) => !isStopped(one)).length,
					);
					for (const { sentAt, stopAt = Infinity } of sent) {
						expect(sentAt).toBeLessThanOrEqual(stopAt);
					}

					// While one waits, each of the others has one turn at most.
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
		[7, 100],
		[50, 400],
		[1_000, 5_000],
	])('allow %d a second, and delay %d requests by a tenth at most', async (rate, count) => {
		const orders = Array.from({ length: count }, (_, sender) => ({
			...{ sender: sender % 3, at: 0, takes: 20_000, travels: 0 },
		}));
		const sent = await sendAll(orders, () => ({ requestsPerSecond: rate }));
		const last = sent[count - 1].sentAt;
		expect(last).toBeLessThanOrEqual((1.1 * 1000 * (count - 1)) / rate);
		expect(last).toBeGreaterThanOrEqual((1000 * (count - 1)) / rate - 20);
	});

	it('keep every place in flight busy', async () => {
		const orders = Array.from({ length: 40 }, () => ({
			...{ sender: 0, at: 0, takes: 1_000, travels: 0 },
		}));
		const sent = await sendAll(orders, () => ({ requestsInFlight: 4 }));
		expect(sent.map(({ sentAt }) => sentAt)).toEqual(
			orders.map((_, index) => 1_000 * Math.floor(index / 4)),
		);
	});

	it('follow the credential of the sender, and count all requests of the key', async () => {
		const orders = [0, 1, 0, 1].map((sender) => ({ sender, at: 0, takes: 0, travels: 0 }));
		const sent = await sendAll(orders, (sender) => ({ requestsPerSecond: sender === 0 ? 1 : 10 }));
		expect(sent.map(({ sender }) => sender)).toEqual([0, 1, 0, 1]);
		const [, second, third, fourth] = sent.map(({ sentAt }) => sentAt);
		expect(second).toBeLessThanOrEqual(1_100);
		expect(third - second).toBeGreaterThanOrEqual(1_000);
		expect(fourth - third).toBeLessThanOrEqual(1_100);
	});

	it('count from the moment at which a slow process sent the request', async () => {
		const clock = new SimulatedClock();
		const limit = new KeyLimit(clock);
		const sender = { requestsPerSecond: 2 };
		const times: number[] = [];
		for (let index = 0; index < 3; index++) {
			const leave = await limit.enter(sender);
			// What it takes to load a library, say.
			if (index === 0) clock.move(400);
			times.push(clock.now());
			leave?.();
		}
		expect(mostIn(times, 1000)).toBe(2);
	});

	it('recover when the clock is set back', async () => {
		const clock = new SimulatedClock();
		const limit = new KeyLimit(clock);
		const sender = { requestsPerSecond: 1 };
		(await limit.enter(sender))?.();
		limit.pauseFor(10_000);
		clock.move(-24 * 3_600_000);
		const before = clock.now();
		(await limit.enter(sender))?.();
		expect(clock.now() - before).toBeLessThanOrEqual(300_000);
	});

	it('give a request up after its patience, and at once when a pause is longer', async () => {
		const clock = new SimulatedClock();
		const limit = new KeyLimit(clock);
		const sender = { requestsInFlight: 1 };
		const leave = await limit.enter(sender);
		const start = clock.now();
		expect(await limit.enter(sender, { patience: 5_000 })).toBeUndefined();
		expect(clock.now() - start).toBe(5_000);
		leave?.();
		limit.pauseFor(10_000);
		expect(await limit.enter(sender, { patience: 5_000 })).toBeUndefined();
		expect(clock.now() - start).toBe(5_000);
		expect(await limit.enter(sender, { patience: 20_000 })).toBeDefined();
		expect(clock.now() - start).toBe(15_000);
	});

	it('may be as low as one request a month, longer than any timer', async () => {
		const clock = new SimulatedClock();
		const limit = new KeyLimit(clock);
		const sender = { requestsPerSecond: 1 / (30 * 86_400) };
		const start = clock.now();
		(await limit.enter(sender))?.();
		(await limit.enter(sender))?.();
		expect(clock.now() - start).toBeGreaterThanOrEqual(30 * 86_400_000);
	});
});
