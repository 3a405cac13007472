import { JobWait } from '../../../../nodes/shared/gateway/jobs/wait';
import { failureOf } from '../../../support/gatewayWorld';
import { content, done, minute, newJob, task, video, waitFor } from '../../../support/jobWaits';
import { SimulatedClock } from '../../../support/simulatedClock';
import {
	completed,
	inTurn,
	link,
	lost,
	page,
	refusal,
	SimulatedJobs,
	type Asked,
	type Said,
} from '../../../support/simulatedJobs';

describe('the content of a finished video', () => {
	const contentThen =
		(...said: Said[]) =>
		({ what, before }: Asked) =>
			what === 'content' ? said[Math.min(before - 1, said.length - 1)] : done;
	const waitForContent = (...said: Said[]) => waitFor(contentThen(...said), { kind: 'video' });

	it.each<[string, Said]>([
		['is not ready', refusal(404, 'video_not_ready')],
		['is lost', lost],
		['is a page', page],
		['is an error', refusal(500)],
	])('requests the content of a video again when the first response %s', async (_, said) => {
		const { wait, jobs } = waitForContent(said, said, content);
		expect((await wait.hold()).source.url).toBe(link);
		expect(jobs.asked.map(({ what, at }) => [what, at])).toEqual([
			['video', 0],
			['content', 0],
			['content', 5000],
			['content', 10_000],
		]);
	});

	it('requests the content of a video for a minute although the deadline has passed', async () => {
		const notReady = refusal(404, 'video_not_ready');
		const clock = new SimulatedClock();
		const jobs = new SimulatedJobs(clock, contentThen(notReady));
		const state = newJob(clock.now(), { kind: 'video', timeout: 0 });
		const { record } = await failureOf(new JobWait(jobs, state, { clock }).hold());
		expect(jobs.times.at(-1)).toBe(minute);
		expect(record).toMatchObject({
			code: 'video_not_ready',
			job: { id: 'job_1', status: 'completed' },
		});
	});

	it('reports the job when its content is refused', async () => {
		const { wait } = waitForContent(refusal(404, 'video_not_found'));
		expect((await failureOf(wait.hold())).record).toMatchObject({
			code: 'video_not_found',
			job: { kind: 'video', id: 'job_1', status: 'completed' },
		});
	});

	it('requests the content of a video again when Retry-After says so', async () => {
		const { wait, jobs } = waitForContent(refusal(429, undefined, 31_000), content);
		await wait.hold();
		expect(jobs.times).toEqual([0, 0, 31_000]);
	});
});

describe('finished tasks without a link', () => {
	it('polls a finished task again until it has a link', async () => {
		const { wait, jobs } = waitFor(inTurn(done, lost, done, completed), task());
		expect((await wait.hold()).source.url).toBe(link);
		expect(jobs.times).toEqual([0, 10_000, 20_000, 30_000]);
	});

	it('reports a finished task that never gets a link', async () => {
		const { wait } = waitFor(inTurn(done), task({ timeout: 0 }));
		const { record } = await failureOf(wait.hold());
		expect(record).toMatchObject({
			message: 'Video task job_1 finished, but the response has no link to the file',
			billed: 'yes',
			job: { id: 'job_1', status: 'completed' },
		});
	});
});

describe('fresh links', () => {
	const fresh = 'https://storage.example/video.mp4?fresh';

	it('requests a fresh link of a task by a poll', async () => {
		const { wait, jobs } = waitFor(inTurn(completed, { ...completed, result_url: fresh }), task());
		await wait.hold();
		await expect(wait.freshSource()).resolves.toEqual({ url: fresh, authenticated: false });
		expect(jobs.times).toEqual([0, 3000]);
	});

	it('requests a fresh link of a video job by its content', async () => {
		const { wait, jobs } = waitFor(video(done), { kind: 'video' });
		await wait.hold();
		await expect(wait.freshSource()).resolves.toEqual({ url: link, authenticated: false });
		expect(jobs.asked.map(({ what }) => what)).toEqual(['video', 'content', 'content']);
	});

	it('reports that the service has no fresh link', async () => {
		const { wait } = waitFor(inTurn(completed, done), task());
		await wait.hold();
		expect((await failureOf(wait.freshSource())).message).toMatch(/has no link to the file$/);
	});

	it('reports the charged job when its fresh link is refused', async () => {
		const { wait } = waitFor(inTurn(completed, refusal(404)), task());
		await wait.hold();
		expect((await failureOf(wait.freshSource())).record).toMatchObject({
			message: expect.stringMatching(/^Video task job_1 finished\. /),
			...{ status: 404, billed: 'yes', job: { id: 'job_1', status: 'completed' } },
		});
	});

	it.each<[string, Said]>([
		['is lost', lost],
		['is an error', refusal(500)],
		['is a rate limit', refusal(429, 'rate_limit_exceeded')],
	])('requests a fresh link again when the first response %s', async (_, said) => {
		const { wait } = waitFor(inTurn(completed, said, { ...completed, result_url: fresh }), task());
		await wait.hold();
		await expect(wait.freshSource()).resolves.toMatchObject({ url: fresh });
	});
});
