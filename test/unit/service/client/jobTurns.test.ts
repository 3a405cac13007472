import { latestPolls, pollInTurn } from '../../../../nodes/shared/service/client/jobTurns';
import { fc } from '../../../support/data/fuzz';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const interval = 3000;

interface Poller {
	job: string;
	path: string;
	/** When it asks; how long its poll would take. Milliseconds. */
	at: number;
	takes: number;
	isSent: boolean;
	isShared: boolean;
	patience?: number;
	stopAt?: number;
}

interface Outcome extends Poller {
	/** The time at which the poll was sent whose response it got; undefined when it gave up. */
	response?: number;
	endedAt: number;
}

/** Lets all pollers ask; returns the polls that were sent, and what each poller got. Times are from the beginning. */
async function pollAll(pollers: Poller[], clock = new SimulatedClock()) {
	const start = clock.now();
	const now = () => clock.now() - start;
	const polls: Array<Poller & { sentAt: number }> = [];
	const outcomes = await Promise.all(
		pollers.map(async (poller): Promise<Outcome> => {
			const { job, path, at, takes, isSent, isShared, patience, stopAt } = poller;
			const stop = new AbortController();
			if (stopAt !== undefined) void clock.sleep(stopAt).then(() => stop.abort());
			await clock.sleep(at);
			const waiting = () => ({ signal: stop.signal, patience });
			const response = await pollInTurn({ job, path }, clock, waiting, async () => {
				const sentAt = now();
				if (isSent) polls.push({ ...poller, sentAt });
				await clock.sleep(takes);
				return { outcome: sentAt, isShared, isSent };
			});
			return { ...poller, response, endedAt: now() };
		}),
	);
	return { polls, outcomes };
}

const poller = (more: Partial<Poller> = {}): Poller => ({
	...{ job: 'job_1', path: 'task', at: 0, takes: 0, isSent: true, isShared: true },
	...more,
});

beforeEach(() => latestPolls.clear());

describe('the polls of one job', () => {
	it.each<[string, Array<Partial<Poller>>, Array<number | undefined>]>([
		['join a poll under way', [{ takes: 500 }, { at: 400 }], [0, 0]],
		['wait for their turn, and get nothing outdated', [{ takes: 500 }, { at: 600 }], [0, 3500]],
		['are sent at once when the last one is older', [{}, { at: 3000 }], [0, 3000]],
		['are sent once for all who wait', [{}, { at: 1 }, { at: 2 }], [0, 3000, 3000]],
		['keep the interval to one of the other kind', [{}, { path: 'video' }], [0, 3000]],
		['do not wait for those of another job', [{ takes: 500 }, { job: 'job_2' }], [0, 0]],
		['share nothing that was stopped', [{ isShared: false, takes: 1500 }, { at: 99 }], [0, 4500]],
		[
			'are held back by none that was never sent',
			[{ isSent: false, takes: 100 }, { at: 101 }],
			[0, 101],
		],
		[
			'give up at their patience or at Stop, and delay no other',
			[{}, { at: 1, patience: 1000 }, { at: 1, stopAt: 2000 }, { at: 1 }],
			[0, undefined, undefined, 3000],
		],
		[
			'give up on one under way at their patience',
			[{ takes: 5000 }, { patience: 1000 }, { patience: Number.MAX_SAFE_INTEGER }],
			[0, undefined, 0],
		],
	])('%s', async (_, pollers, expected) => {
		const { outcomes } = await pollAll(pollers.map(poller));
		expect(outcomes.map(({ response }) => response)).toEqual(expected);
	});

	it('keep the interval, and no one gives up early, whoever asks when', async () => {
		const pollers = fc.array(
			fc.record({
				job: fc.constantFrom('job_1', 'job_2'),
				path: fc.constantFrom('task', 'video'),
				at: fc.nat(20_000),
				takes: fc.constantFrom(0, 10, 2000, 20_000),
				isSent: fc.constantFrom(true, true, false),
				isShared: fc.constantFrom(true, true, false),
				patience: fc.constantFrom(undefined, 0, 100, 5000, 60_000),
				stopAt: fc.option(fc.nat(20_000), { nil: undefined }),
			}),
			{ maxLength: 12 },
		);
		await fc.assert(
			fc.asyncProperty(pollers, async (all) => {
				latestPolls.clear();
				const { polls, outcomes } = await pollAll(all);
				for (const job of ['job_1', 'job_2']) {
					const own = polls.filter((one) => one.job === job);
					for (const [index, { sentAt }] of own.slice(1).entries()) {
						const before = own[index];
						expect(sentAt - before.sentAt).toBeGreaterThanOrEqual(interval + before.takes);
					}
				}
				for (const { at, response, endedAt, stopAt = Infinity, patience = Infinity } of outcomes) {
					const gaveUpAt = Math.max(at, Math.min(stopAt, at + patience));
					if (response === undefined) expect(endedAt).toBeGreaterThanOrEqual(gaveUpAt);
				}
			}),
		);
	});

	it('wait no longer than the interval when the clock is set back', async () => {
		const clock = new SimulatedClock();
		await pollAll([poller()], clock);
		clock.move(-3_600_000);
		const { outcomes } = await pollAll([poller({ path: 'video' })], clock);
		expect(outcomes).toMatchObject([{ response: interval }]);
	});

	it('need no memory once they hold back no other', async () => {
		const clock = new SimulatedClock();
		const jobs = Array.from({ length: 1000 }, (_, index) => poller({ job: `job_${index}` }));
		await pollAll(jobs, clock);
		expect(latestPolls.size).toBe(1000);
		await clock.sleep(interval);
		await pollAll([poller()], clock);
		expect(latestPolls.size).toBe(1);
	});
});
