import { failureOf } from '../../../support/workflows/gatewayWorld';
import {
	content,
	done,
	minute,
	task,
	waitFor,
	type Waiting,
} from '../../../support/workflows/jobWaits';
import {
	completed,
	inTurn,
	link,
	lost,
	page,
	refusal,
	type Asked,
	type Said,
} from '../../../support/time/simulatedJobs';

/** Responses for each place of a link: the job and its content. The last one of each is repeated. */
const places = (places: Record<'job' | 'content', Said[]>) => {
	const counts = { job: 0, content: 0 };
	return ({ what }: Asked): Said => {
		const place = what === 'content' ? 'content' : 'job';
		const said = places[place];
		return said[Math.min(counts[place]++, said.length - 1)];
	};
};

const notFound = refusal(404, 'video_not_found');
const notReady = refusal(404, 'video_not_ready');
const busy = refusal(503, undefined, 31_000);
const badLooks: Array<[string, Said]> = [
	['is not ready', notReady],
	['is lost', lost],
	['is a page', page],
	['is an error', refusal(500)],
	['is a refusal', notFound],
	['has no link', {}],
];

describe('the link of a finished job', () => {
	it.each(badLooks)(
		'polls a finished video and requests its content in turn while the content %s',
		async (_, said) => {
			const say = places({ job: [done], content: [said, said, content] });
			const { wait, jobs } = waitFor(say, { kind: 'video' });
			expect((await wait.hold()).source.url).toBe(link);
			expect(jobs.asked.map(({ what, at }) => [what, at])).toEqual([
				['video', 0],
				['content', 0],
				['video', 3000],
				['content', 8000],
				['video', 13_000],
				['content', 18_000],
			]);
		},
	);

	it.each(badLooks)(
		'requests the content of a finished task when the link of the job %s',
		async (_, said) => {
			const say = places({ job: [done, said], content: [notFound, content] });
			const { wait, jobs } = waitFor(say, task());
			expect((await wait.hold()).source.url).toBe(link);
			expect(jobs.asked.map(({ what, at }) => [what, at])).toEqual([
				['task', 0],
				['content', 3000],
				['task', 13_000],
				['content', 23_000],
			]);
		},
	);

	it.each<[string, Waiting, Record<'job' | 'content', Said[]>]>([
		['a video whose content fails', { kind: 'video' }, { job: [completed], content: [lost] }],
		['a task that has it later', task(), { job: [done, completed], content: [notFound] }],
		['a video that has it later', { kind: 'video' }, { job: [done, completed], content: [lost] }],
	])('returns the link that is in the job of %s', async (_, settings, said) => {
		const { wait } = waitFor(places(said), settings);
		expect((await wait.hold()).source.url).toBe(link);
	});

	it('requests the content of a video again when Retry-After says so', async () => {
		const say = places({ job: [done], content: [busy, content] });
		const { wait, jobs } = waitFor(say, { kind: 'video' });
		await wait.hold();
		expect(jobs.times).toEqual([0, 0, 3000, 34_000]);
	});

	it.each<[string, Waiting, Record<'job' | 'content', Said[]>]>([
		['a video', { kind: 'video' }, { job: [done], content: [page] }],
		['a task', task(), { job: [done], content: [notFound] }],
		['a task after the Timeout', task({ timeout: 0 }), { job: [done], content: [page] }],
		// The status of a finished job is final.
		['a strange task', task(), { job: [done, { status: 'failed' }], content: [notFound] }],
	])('looks for the link of %s for a minute, and then reports both places', async (_, ...given) => {
		const [settings, said] = given;
		const { wait, jobs, passed } = waitFor(places(said), settings);
		const { record } = await failureOf(wait.hold());
		expect(passed()).toBe(minute);
		expect(jobs.shortestGap).toBeGreaterThanOrEqual(3000);
		const { kind } = settings;
		const name = kind === 'video' ? 'Video job' : 'Video job';
		expect(record.message).toMatch(new RegExp(`^${name} job_1 finished.*\\. Could not`));
		expect(record).toMatchObject({
			...{ billed: 'yes', raw_body: JSON.stringify(done) },
			job: { kind, id: 'job_1', status: 'completed' },
		});
		expect(record.advice).toContain('The video is finished and charged, and it is not lost.');
		expect(record.advice).not.toContain('Check the ID');
	});
});

describe('fresh links', () => {
	const fresh = 'https://storage.example/video.mp4?fresh';

	it('reports the charged job when its fresh link is refused', async () => {
		const { wait } = waitFor(inTurn(completed, refusal(404)), task());
		await wait.hold();
		expect((await failureOf(wait.freshSource())).record).toMatchObject({
			message: expect.stringMatching(/^Video job job_1 finished\. /),
			...{ status: 404, billed: 'yes', job: { id: 'job_1', status: 'completed' } },
		});
	});

	it.each<[string, Said]>([
		['is lost', lost],
		['is an error', refusal(500)],
		['is a rate limit', refusal(429, 'rate_limit_exceeded')],
	])('requests a fresh link again when the first response %s', async (_, said) => {
		const job = [completed, said, { ...completed, result_url: fresh }];
		const { wait } = waitFor(places({ job, content: [notFound] }), task());
		await wait.hold();
		await expect(wait.freshSource()).resolves.toMatchObject({ url: fresh });
	});

	it.each<[string, Waiting, Record<'job' | 'content', Said[]>]>([
		['is not ready', { kind: 'video' }, { job: [done], content: [notReady] }],
		['meets a busy service', task(), { job: [done, refusal(503)], content: [page] }],
	])('looks for the link of a job until the Timeout while it %s', async (_, settings, said) => {
		const { wait, passed } = waitFor(places(said), { ...settings, timeout: 5 * minute });
		const { record } = await failureOf(wait.hold());
		expect(passed()).toBe(5 * minute);
		expect(record.billed).toBe('yes');
	});
});
