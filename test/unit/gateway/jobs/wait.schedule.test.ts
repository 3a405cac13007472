import type { PollerState } from '../../../../nodes/shared/gateway/jobs/poller';
import { JobWait } from '../../../../nodes/shared/gateway/jobs/wait';
import type { JobKind } from '../../../../nodes/shared/gateway/protocol/jobs';
import { fc } from '../../../support/data/fuzz';
import { failureOf } from '../../../support/workflows/gatewayWorld';
import {
	minute,
	newJob,
	second,
	task,
	video,
	waitFor,
	type Waiting,
} from '../../../support/workflows/jobWaits';
import { SimulatedClock } from '../../../support/time/simulatedClock';
import {
	completed,
	inTurn,
	link,
	lost,
	page,
	refusal,
	running,
	SimulatedJobs,
	unsent,
	type Asked,
	type Said,
} from '../../../support/time/simulatedJobs';

describe('the poll interval', () => {
	it.each<[string, Waiting, number]>([
		['a task', task(), 10_000],
		['a video', { kind: 'video' }, 5000],
		['an interval of 45 s', task({ pollInterval: 45_000 }), 45_000],
		['an interval of 0', task({ pollInterval: 0 }), 3000],
		['a negative interval', task({ pollInterval: -5 }), 3000],
		['an interval below the minimum', task({ pollInterval: 2999 }), 3000],
		['the minimum interval', task({ pollInterval: 3000 }), 3000],
	])(
		'uses the default interval or the one that is set, and at least 3 s: %s',
		async (_, settings, expected) => {
			const { wait, jobs } = waitFor(video(running, running, completed), settings);
			await wait.hold();
			expect(jobs.times.slice(0, 3)).toEqual([0, expected, 2 * expected]);
		},
	);

	it('counts the interval from the first poll, which may be delayed', async () => {
		const { wait, jobs } = waitFor(inTurn(running, completed), task({ firstPollAfter: 1234 }));
		await wait.hold();
		expect(jobs.times).toEqual([1234, 11_234]);
	});

	it('polls after the interval, or later when Retry-After says so', async () => {
		const said = inTurn(refusal(429, 'rate_limit_exceeded', 42_000), refusal(503, undefined, 1000));
		const { wait, jobs } = waitFor((asked) => (asked.before < 2 ? said(asked) : completed));
		await wait.hold();
		expect(jobs.times).toEqual([0, 42_000, 52_000]);
	});

	it('never polls twice within 3 seconds, whatever happens', async () => {
		const responses = fc.constantFrom<Said[]>(
			...[
				running,
				{ status: 'unknown' },
				{ status: 'completed' },
				completed,
				{},
				lost,
				unsent,
				page,
			],
			...[refusal(404), refusal(429), refusal(500), refusal(503, undefined, 100), refusal(400)],
		);
		const settings = fc.record({
			kind: fc.constantFrom<Array<JobKind | undefined>>('task', 'video', undefined),
			pollInterval: fc.constantFrom(undefined, 0, 1, 2500, 3000, 7000),
			firstPollAfter: fc.nat(5000),
			latency: fc.constantFrom(0, 10, 2000, 20_000),
			timeout: fc.integer({ min: 0, max: 2 * minute }),
		});
		await fc.assert(
			fc.asyncProperty(fc.array(responses, { minLength: 1 }), settings, async (said, setting) => {
				const { wait, jobs } = waitFor(video(...said), setting);
				await wait.hold().catch(() => undefined);
				await wait.freshSource().catch(() => undefined);
				await wait.freshSource().catch(() => undefined);
				expect(jobs.shortestGap).toBeGreaterThanOrEqual(3000);
			}),
		);
	});
});

describe('waits in passes', () => {
	/** n8n looks for parked executions once a minute; between two passes, its database keeps the state. */
	const passes = async (
		say: (asked: Asked) => Said,
		{ kind = 'task', ...settings }: Waiting = {},
	) => {
		const clock = new SimulatedClock();
		const jobs = new SimulatedJobs(clock, say);
		const start = clock.now();
		let state = newJob(start, { kind, ...settings });
		for (let count = 1; ; count++) {
			const wait = new JobWait(jobs, state, { clock, ...settings });
			const finished = await wait.pollUntil(clock.now());
			if (finished) return { jobs, count, passed: clock.now() - start, source: finished.source };
			state = JSON.parse(JSON.stringify(wait.state)) as PollerState;
			await clock.sleep(Math.max(minute, state.nextPollAt - clock.now()));
		}
	};

	it('polls once in each pass, and returns the link in the first pass after the end of the job', async () => {
		const { jobs, count } = await passes(({ at }) => (at < 150 * second ? running : completed));
		expect(jobs.times).toEqual([0, minute, 2 * minute, 3 * minute]);
		expect(count).toBe(4);
	});

	it('sends nothing in a pass while the next poll is not due', async () => {
		const { wait, jobs } = waitFor(inTurn(completed), task());
		const { since } = wait.state;
		wait.state = { ...wait.state, nextPollAt: since + 4 * second };
		await expect(wait.pollUntil(since)).resolves.toBeUndefined();
		expect(jobs.asked).toEqual([]);
		wait.state = { ...wait.state, nextPollAt: since + 3 * second };
		await expect(wait.pollUntil(since)).resolves.toMatchObject({ source: { url: link } });
		expect(jobs.times).toEqual([3 * second]);
	});

	it('polls until the end of a pass, and leaves the next poll to another pass', async () => {
		const { wait, jobs } = waitFor(inTurn(running), task());
		const { since } = wait.state;
		await expect(wait.pollUntil(since + 30 * second)).resolves.toBeUndefined();
		expect(jobs.times).toEqual([0, 10_000, 20_000, 30_000]);
		expect(wait.state).toMatchObject({
			nextPollAt: since + 40 * second,
			job: { status: 'in_progress' },
		});
	});

	it('waits across passes as long as Retry-After says', async () => {
		const later = refusal(429, 'rate_limit_exceeded', 130 * second);
		const { jobs } = await passes(inTurn(running, later, completed));
		expect(jobs.times).toEqual([0, minute, minute + 130 * second]);
	});

	it('ends the wait with a last poll at the deadline, which counts from the first pass', async () => {
		const clock = new SimulatedClock();
		const jobs = new SimulatedJobs(clock, inTurn(running));
		const wait = new JobWait(jobs, newJob(clock.now(), task({ timeout: 90 * second })), { clock });
		const pass = () => wait.pollUntil(clock.now());
		await pass();
		await clock.sleep(minute);
		await pass();
		await clock.sleep(2 * minute);
		expect((await failureOf(pass())).record.message).toBe(
			'Video task job_1 did not finish within 1.5 minutes (last status in_progress, 30 %)',
		);
		expect(jobs.times).toEqual([0, minute, 3 * minute]);
	});

	it('does not count the time in which n8n was down towards the deadline', async () => {
		const clock = new SimulatedClock();
		const jobs = new SimulatedJobs(clock, inTurn(running, lost, lost, completed));
		const wait = new JobWait(jobs, newJob(clock.now(), task({ timeout: 20 * minute })), { clock });
		const pass = () => wait.pollUntil(clock.now());
		await pass();
		await clock.sleep(8 * 60 * minute);
		for (let count = 0; count < 2; count++) {
			await expect(pass()).resolves.toBeUndefined();
			await clock.sleep(minute);
		}
		await expect(pass()).resolves.toMatchObject({ source: { url: link } });
	});

	it('never polls twice within three seconds, whatever the deadline', async () => {
		const clock = new SimulatedClock();
		const jobs = new SimulatedJobs(clock, inTurn(running));
		const wait = new JobWait(jobs, newJob(clock.now(), task({ timeout: second })), { clock });
		const pass = () => wait.pollUntil(clock.now());
		await expect(pass()).rejects.toThrow('did not finish');
		expect(jobs.times).toEqual([0, 3 * second]);
	});
});

describe('thousands of jobs', () => {
	it('polls a thousand jobs side by side, each on its own schedule', async () => {
		const count = 1000;
		const clock = new SimulatedClock();
		const takes = (id: string) => minute + (Number(id) % 240) * second;
		const wrong = [lost, page, refusal(500), refusal(429)];
		const said = ({ id, at, before }: Asked): Said => {
			if (before % 7 === 3) return wrong[before % 4];
			return at < takes(id) ? running : { ...completed, result_url: `${link}?${id}` };
		};
		const jobs = new SimulatedJobs(clock, said, 300);
		const finished = await Promise.all(
			Array.from({ length: count }, async (_, index) => {
				const state = newJob(clock.now(), { id: `${index}`, kind: 'task' });
				const { source } = await new JobWait(jobs, state, { clock, firstPollAfter: index }).hold();
				return source.url;
			}),
		);

		expect(finished).toEqual(Array.from({ length: count }, (_, index) => `${link}?${index}`));
		expect(jobs.shortestGap).toBe(10_300);
		const lastOf = new Map(jobs.asked.map(({ id, at }) => [id, at]));
		for (const [id, at] of lastOf) expect(at).toBeLessThan(takes(id) + 3 * 10_300 + count);
		expect(jobs.asked.length).toBeGreaterThan(count * 15);
	});

	it('notices the end of each of 2,000 jobs in the first pass after it', async () => {
		const count = 2000;
		const clock = new SimulatedClock();
		const start = clock.now();
		const takes = (id: string) => minute + (Number(id) % 240) * second;
		const said = ({ id, at }: Asked): Said => (at < takes(id) ? running : completed);
		const jobs = new SimulatedJobs(clock, said, 300);
		let parked = Array.from({ length: count }, (_, index) =>
			newJob(start, { id: `${index}`, kind: 'task' }),
		);
		const delays: number[] = [];
		for (let pass = 0; parked.length > 0; pass++) {
			await clock.sleep(Math.max(0, start + pass * minute - clock.now()));
			const until = clock.now();
			const running = await Promise.all(
				parked.map(async (state, index) => {
					const firstPollAfter = (index * 3 * second) / parked.length;
					const wait = new JobWait(jobs, state, { clock, firstPollAfter });
					const finished = await wait.pollUntil(until);
					if (finished) delays.push(clock.now() - start - takes(state.job.id));
					return finished ? [] : [wait.state];
				}),
			);
			parked = JSON.parse(JSON.stringify(running.flat())) as PollerState[];
		}

		expect(delays).toHaveLength(count);
		expect(Math.max(...delays)).toBeLessThan(minute + 4 * second);
		const polls = new Map<string, number>();
		for (const { id } of jobs.asked) polls.set(id, (polls.get(id) ?? 0) + 1);
		for (const [id, number] of polls) {
			expect(number).toBeLessThanOrEqual(Math.ceil(takes(id) / minute) + 1);
		}
	});
});
