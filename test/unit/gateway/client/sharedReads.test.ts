import {
	latestReads,
	readShared,
	type Wish,
} from '../../../../nodes/shared/gateway/client/sharedReads';
import { fc } from '../../../support/data/fuzz';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const interval = 3000;
const maxHold = 10_000;

interface Reader extends Pick<Wish, 'since' | 'maxAge'> {
	id: string;
	what: string;
	/** When it asks; when its request would end. Milliseconds. */
	at: number;
	takes: number;
	isSent: boolean;
	sharedWith: 'all' | 'joined' | 'nobody';
	patience?: number;
	stopAt?: number;
}

interface Outcome extends Reader {
	/** The time at which the request was sent whose response it got; undefined when it gave up. */
	response?: number;
	endedAt: number;
}

/** Lets all readers ask; returns the requests that were sent, and what each reader got. Times are from the beginning. */
async function readAll(readers: Reader[], clock = new SimulatedClock()) {
	const start = clock.now();
	const now = () => clock.now() - start;
	const requests: Array<Reader & { sentAt: number }> = [];
	const outcomes = await Promise.all(
		readers.map(async (reader): Promise<Outcome> => {
			const { id, what, at, takes, isSent, sharedWith, patience, stopAt, since, maxAge } = reader;
			const stop = new AbortController();
			if (stopAt !== undefined) void clock.sleep(stopAt).then(() => stop.abort());
			await clock.sleep(at);
			const wish = {
				...{ name: [id], what, interval, maxAge },
				since: since === undefined ? undefined : start + since,
			};
			const waiting = () => ({ signal: stop.signal, patience });
			const response = await readShared(wish, clock, waiting, async (begin) => {
				begin();
				const sentAt = now();
				if (isSent) requests.push({ ...reader, sentAt });
				await clock.sleep(takes);
				return { outcome: sentAt, sharedWith, isSent };
			});
			return { ...reader, response, endedAt: now() };
		}),
	);
	return { requests, outcomes };
}

const reader = (more: Partial<Reader> = {}): Reader => ({
	...{ id: 'job_1', what: 'task', at: 0, takes: 0, isSent: true, sharedWith: 'all' },
	...more,
});
const responses = ({ outcomes }: Awaited<ReturnType<typeof readAll>>) =>
	outcomes.map(({ response }) => response);

describe('reads that are shared', () => {
	it.each<[string, Array<Partial<Reader>>, Array<number | undefined>]>([
		['joins a request under way', [{ takes: 500 }, { at: 400 }], [0, 0]],
		['waits for its turn, and gets nothing outdated', [{ takes: 500 }, { at: 600 }], [0, 3500]],
		['sends a request at once when the last one is older', [{}, { at: 3000 }], [0, 3000]],
		['takes a response that is new enough for it', [{ takes: 9 }, { at: 3008, since: 8 }], [0, 0]],
		[
			'takes no response that it may have already',
			[{ takes: 9 }, { at: 99, since: 10 }],
			[0, 3009],
		],
		['takes an older one where it may', [{}, { at: 5000, since: -1, maxAge: 9000 }], [0, 0]],
		['sends one request for all who wait', [{}, { at: 1 }, { at: 2 }], [0, 3000, 3000]],
		['keeps the interval to a request for something else', [{}, { what: 'video' }], [0, 3000]],
		['does not wait for the request of another job', [{ takes: 500 }, { id: 'job_2' }], [0, 0]],
		[
			'sends its own after a request that says nothing',
			[{ sharedWith: 'nobody', takes: 1500 }, { at: 1000 }],
			[0, 4500],
		],
		[
			'shares a failure only with those who have joined the request',
			[{ sharedWith: 'joined', takes: 100 }, {}, { at: 101, since: -1 }],
			[0, 0, 3100],
		],
		[
			'is held back by no request that was never sent',
			[{ sharedWith: 'joined', isSent: false, takes: 100 }, {}, { at: 101 }],
			[0, 0, 101],
		],
		[
			'waits at most 10 s and the interval for a request without a response',
			[{ takes: 600_000 }, { takes: 1 }],
			[0, 13_000],
		],
		[
			'gives up at its patience or at Stop, and delays no other',
			[{}, { at: 1, patience: 1000 }, { at: 1, stopAt: 2000 }, { at: 1 }],
			[0, undefined, undefined, 3000],
		],
		[
			'gives up on a request under way at its patience',
			[{ takes: 5000 }, { patience: 1000 }, { patience: Number.MAX_SAFE_INTEGER }],
			[0, undefined, 0],
		],
	])('%s', async (_, readers, expected) =>
		expect(responses(await readAll(readers.map(reader)))).toEqual(expected),
	);

	it('waits no longer than the interval when the clock is set back', async () => {
		const clock = new SimulatedClock();
		await readAll([reader()], clock);
		clock.move(-3_600_000);
		const began = clock.now();
		await readAll([reader({ what: 'video' })], clock);
		expect(clock.now() - began).toBe(interval);
	});

	it('keeps the interval, and gives each reader a response that it can use, whoever asks when', async () => {
		const readers = fc.array(
			fc.record({
				id: fc.constantFrom('job_1', 'job_2'),
				what: fc.constantFrom('task', 'video'),
				at: fc.nat(20_000),
				takes: fc.constantFrom(0, 10, 2000, 20_000),
				isSent: fc.constantFrom(true, true, false),
				sharedWith: fc.constantFrom('all' as const, 'joined' as const, 'nobody' as const),
				patience: fc.constantFrom(undefined, 0, 100, 5000, 60_000),
				stopAt: fc.option(fc.nat(20_000), { nil: undefined }),
				since: fc.option(fc.nat(20_000), { nil: undefined }),
				maxAge: fc.constantFrom(undefined, 10_000),
			}),
			{ maxLength: 12 },
		);
		await fc.assert(
			fc.asyncProperty(readers, async (all) => {
				const { requests, outcomes } = await readAll(all);
				for (const id of ['job_1', 'job_2']) {
					const own = requests.filter((one) => one.id === id);
					for (const [index, { sentAt }] of own.slice(1).entries()) {
						const before = own[index];
						const held = Math.min(before.takes, maxHold);
						expect(sentAt - before.sentAt).toBeGreaterThanOrEqual(interval + held);
					}
				}
				for (const { at, response, endedAt, stopAt = Infinity, patience = Infinity } of outcomes) {
					const gaveUpAt = Math.max(at, Math.min(stopAt, at + patience));
					if (response === undefined) expect(endedAt).toBeGreaterThanOrEqual(gaveUpAt);
					else expect(response).toBeGreaterThanOrEqual(at - 20_000 - 10_000);
				}
			}),
		);
	});

	it('frees the memory of a response once nothing takes it any more', async () => {
		const clock = new SimulatedClock();
		const ids = Array.from({ length: 1000 }, (_, index) => `job_${index}`);
		await readAll(
			ids.map((id) => reader({ id })),
			clock,
		);
		expect(latestReads.get(clock)?.size).toBe(1000);
		await clock.sleep(10_000);
		await readAll([reader()], clock);
		expect(latestReads.get(clock)?.size).toBe(1);
	});
});
