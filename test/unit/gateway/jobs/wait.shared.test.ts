import { JobWait } from '../../../../nodes/shared/gateway/jobs/wait';
import { limits } from '../../../../nodes/shared/gateway/protocol/limits';
import { fc } from '../../../support/data/fuzz';
import { minute, newJob, second, video, type Waiting } from '../../../support/workflows/jobWaits';
import { SimulatedClock } from '../../../support/time/simulatedClock';
import {
	completed,
	inTurns,
	link,
	lost,
	page,
	refusal,
	running,
	SimulatedJobs,
	type Asked,
	type Said,
} from '../../../support/time/simulatedJobs';

const minInterval = limits.minPollSeconds * second;

/** One wait for the same job with each of these settings. */
const waitsFor = (say: (asked: Asked) => Said, settings: Waiting[], latency = 0) => {
	const clock = new SimulatedClock();
	const jobs = new SimulatedJobs(clock, say, latency);
	const sourceFor = inTurns(jobs, clock);
	const waits = settings.map(
		(own) => new JobWait(sourceFor(own.signal), newJob(clock.now(), own), { clock, ...own }),
	);
	return { clock, jobs, waits };
};

it('replaces an expired link with one poll for all waits', async () => {
	const say = ({ before }: Asked) => ({ ...completed, result_url: `${link}?${before}` });
	const { clock, jobs, waits } = waitsFor(say, [{ kind: 'task' }, { kind: 'task' }], 300);
	const finished = await Promise.all(waits.map(async (wait) => await wait.hold()));
	expect(finished.map(({ source }) => source.url)).toEqual([`${link}?0`, `${link}?0`]);
	const refresh = async () => {
		return await Promise.all(waits.map(async (wait) => (await wait.freshSource()).url));
	};
	expect(await refresh()).toEqual([`${link}?1`, `${link}?1`]);
	expect((await waits[0].freshSource()).url).toBe(`${link}?2`);
	await clock.sleep(minute);
	expect((await waits[1].freshSource()).url).toBe(`${link}?3`);
	expect(jobs.shortestGap).toBeGreaterThanOrEqual(minInterval);
});

it('never polls a job twice within three seconds, whatever happens', async () => {
	const responses = fc.constantFrom<Said[]>(
		...[running, { status: 'completed' }, completed, {}, lost, page],
		...[refusal(404), refusal(429), refusal(500), refusal(400)],
	);
	const settings = fc.record({
		kind: fc.constantFrom('task' as const, 'video' as const, undefined),
		pollInterval: fc.constantFrom(undefined, 0, 2500, 3000, 4000, 7000),
		firstPollAfter: fc.nat(5000),
		timeout: fc.integer({ min: 0, max: 2 * minute }),
	});
	await fc.assert(
		fc.asyncProperty(
			fc.array(responses, { minLength: 1 }),
			fc.array(settings, { minLength: 2, maxLength: 5 }),
			fc.constantFrom(0, 10, 2000, 20_000),
			async (said, own, latency) => {
				const { jobs, waits } = waitsFor(video(...said), own, latency);
				await Promise.all(
					waits.map(async (wait) => {
						await wait.hold().catch(() => undefined);
						await wait.freshSource().catch(() => undefined);
					}),
				);
				expect(jobs.shortestGap).toBeGreaterThanOrEqual(minInterval);
			},
		),
	);
});
