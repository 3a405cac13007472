import { stopped, type GatewayError } from '../../nodes/shared/gateway/errors/gatewayError';
import { describeStatus, type JobSummary } from '../../nodes/shared/gateway/errors/jobSummary';
import { startWait, type PollerState } from '../../nodes/shared/gateway/jobs/poller';
import { JobWait, type WaitSettings } from '../../nodes/shared/gateway/jobs/wait';
import type { JobKind } from '../../nodes/shared/gateway/protocol/jobs';
import { fc } from '../support/fuzz';
import { failureOf } from '../support/gatewayWorld';
import { SimulatedClock } from '../support/simulatedClock';
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
} from '../support/simulatedJobs';

const second = 1000;
const minute = 60 * second;

const done = { status: 'completed' };
const content = { url: link };
/** A video job's content is asked for when it is completed. */
const video =
	(...polls: Said[]) =>
	(asked: Asked): Said =>
		asked.what === 'content' ? content : inTurn(...polls)(asked);

interface NewJob extends Partial<Pick<PollerState, 'timeout' | 'pollInterval'>> {
	id?: string;
	kind?: JobKind;
}

interface Waiting extends NewJob, Partial<Omit<WaitSettings, 'clock'>> {
	latency?: number;
}

const newJob = (
	now: number,
	{ id = 'job_1', kind, timeout = 20 * minute, pollInterval }: NewJob = { kind: 'task' },
): PollerState => startWait({ id, ...(kind && { kind }) }, { now, timeout, pollInterval });

const waitFor = (
	say: (asked: Asked) => Said,
	{ latency, ...settings }: Waiting = { kind: 'task' },
) => {
	const clock = new SimulatedClock();
	const jobs = new SimulatedJobs(clock, say, latency);
	const start = clock.now();
	const wait = new JobWait(jobs, newJob(start, settings), { clock, ...settings });
	return { clock, jobs, wait, passed: () => clock.now() - start };
};
const task = (settings: Waiting = {}): Waiting => ({ kind: 'task', ...settings });

describe('a job that finishes', () => {
	it('gives the fields of its last answer and its link', async () => {
		const said = { ...completed, task_id: 'job_1' };
		const { wait, jobs } = waitFor(inTurn({ status: 'submitted' }, running, said), task());
		await expect(wait.hold()).resolves.toEqual({
			source: { url: link, authenticated: false },
			fields: said,
		});
		expect(jobs.times).toEqual([0, 10_000, 20_000]);
	});

	it('of the other kind is asked for its content', async () => {
		const { wait, jobs } = waitFor(video({ status: 'processing' }, done), { kind: 'video' });
		await expect(wait.hold()).resolves.toEqual({
			source: { url: link, authenticated: false },
			fields: { status: 'completed', id: 'job_1', url: link },
		});
		expect(jobs.asked.map(({ what, at }) => [what, at])).toEqual([
			['video', 0],
			['video', 5000],
			['content', 5000],
		]);
	});

	it('is asked no more', async () => {
		const { wait, jobs, clock } = waitFor(inTurn(running, completed), task());
		await wait.hold();
		await clock.sleep(60 * minute);
		expect(jobs.asked).toHaveLength(2);
	});

	it('in the native words is recognized', async () => {
		const native = { output: { task_status: 'SUCCEEDED', video_url: link } };
		const { wait } = waitFor(inTurn({ output: { task_status: 'PENDING' } }, native), task());
		expect((await wait.hold()).source.url).toBe(link);
	});

	it('after states that nobody has named is waited for', async () => {
		const { wait } = waitFor(inTurn({ status: 'POSTPROCESSING' }, { status: 7 }, completed));
		expect((await wait.hold()).source.url).toBe(link);
	});
});

describe('the time between two polls', () => {
	it.each<[string, Waiting, number]>([
		['of a task', task(), 10_000],
		['of a video', { kind: 'video' }, 5000],
		['as wished', task({ pollInterval: 45_000 }), 45_000],
		['of 0', task({ pollInterval: 0 }), 3000],
		['below zero', task({ pollInterval: -5 }), 3000],
		['of less than the service allows', task({ pollInterval: 2999 }), 3000],
		['of just as much', task({ pollInterval: 3000 }), 3000],
	])('%s', async (_, settings, expected) => {
		const { wait, jobs } = waitFor(video(running, running, completed), settings);
		await wait.hold();
		expect(jobs.times.slice(0, 3)).toEqual([0, expected, 2 * expected]);
	});

	it('begins when the first poll is due', async () => {
		const { wait, jobs } = waitFor(inTurn(running, completed), task({ firstPollAfter: 1234 }));
		await wait.hold();
		expect(jobs.times).toEqual([1234, 11_234]);
	});

	it('is as long as the service asks', async () => {
		const said = inTurn(refusal(429, 'rate_limit_exceeded', 42_000), refusal(503, undefined, 1000));
		const { wait, jobs } = waitFor((asked) => (asked.before < 2 ? said(asked) : completed));
		await wait.hold();
		expect(jobs.times).toEqual([0, 42_000, 52_000]);
	});

	it('is never shorter than the service allows, whatever happens', async () => {
		const answers = fc.constantFrom<Said[]>(
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
			fc.asyncProperty(fc.array(answers, { minLength: 1 }), settings, async (said, setting) => {
				const { wait, jobs } = waitFor(video(...said), setting);
				await wait.hold().catch(() => undefined);
				await wait.freshSource().catch(() => undefined);
				await wait.freshSource().catch(() => undefined);
				expect(jobs.shortestGap).toBeGreaterThanOrEqual(3000);
			}),
		);
	});
});

describe('a poll that goes wrong', () => {
	it.each<[string, Said]>([
		['is lost', lost],
		['never leaves', unsent],
		['gives a page', page],
		['has no status', {}],
		['meets the rate limit', refusal(429, 'rate_limit_exceeded')],
		['meets an error', refusal(500)],
		["meets a proxy's page", refusal(502)],
		['meets the provider', refusal(500, 'upstream_error')],
		['comes too early', refusal(425)],
		['takes too long', refusal(408)],
		['is told that the video is not ready', refusal(400, 'video_not_ready')],
	])('is survived when it %s', async (_, wrong) => {
		const { wait, jobs } = waitFor(inTurn(running, wrong, wrong, wrong, completed), task());
		expect((await wait.hold()).source.url).toBe(link);
		expect(jobs.asked).toHaveLength(5);
	});

	it.each([
		[400, undefined],
		[401, 'invalid_api_key'],
		[403, undefined],
		[404, 'video_not_found'],
		// A known code is final, also with a 2xx status.
		[200, 'video_not_found'],
	])('ends the wait when no later one can do better: %d', async (status, code) => {
		const { wait, jobs } = waitFor(inTurn(running, refusal(status, code), completed), task());
		const { record } = await failureOf(wait.hold());
		expect(record).toMatchObject({
			status,
			job: { kind: 'task', id: 'job_1', status: 'in_progress', progress: 30 },
		});
		expect(jobs.asked).toHaveLength(2);
	});

	it('is survived when it lacks money: the job runs on', async () => {
		const wrong = refusal(500, 'quota_exceeded');
		const { wait } = waitFor(inTurn(running, wrong, wrong, completed), task());
		expect((await wait.hold()).source.url).toBe(link);
	});

	it('is no reason to ask elsewhere, though its status be 404', async () => {
		const said = video(refusal(404, 'video_not_ready'), done);
		const { wait, jobs } = waitFor(said, { kind: 'video' });
		await wait.hold().catch(() => undefined);
		expect(jobs.asked.map(({ what }) => what)).toEqual(['video', 'video', 'content']);
	});

	it('does not hide a mistake of ours', async () => {
		// What no type allows, and happens all the same.
		const mistake = new TypeError('a mistake') as unknown as GatewayError;
		await expect(waitFor(inTurn(mistake)).wait.hold()).rejects.toThrow(TypeError);
	});
});

describe('a job of unknown kind', () => {
	const unknownTask = (asked: Asked) => (asked.what === 'task' ? refusal(404) : video(done)(asked));

	it('is asked for as a task first', async () => {
		const { wait, jobs } = waitFor(inTurn(running, completed), {});
		await wait.hold();
		expect(jobs.asked.map(({ what }) => what)).toEqual(['task', 'task']);
		expect(wait.state.job.kind).toBe('task');
	});

	it('is asked for as a video next', async () => {
		const { wait, jobs } = waitFor(unknownTask, {});
		await wait.hold();
		expect(jobs.asked.map(({ what, at }) => [what, at])).toEqual([
			['task', 0],
			['video', 3000],
			['content', 3000],
		]);
		expect(wait.state.job.kind).toBe('video');
	});

	it('stays unknown while the service says nothing about it', async () => {
		const said = video(lost, refusal(500), refusal(404), running, done);
		const { wait, jobs } = waitFor(said, {});
		await wait.hold();
		expect(jobs.asked.slice(0, 4).map(({ what }) => what)).toEqual([
			'task',
			'task',
			'task',
			'video',
		]);
	});

	it('that neither endpoint knows is reported at once', async () => {
		const { wait, jobs } = waitFor(inTurn(refusal(404, 'video_not_found')), {});
		const { record } = await failureOf(wait.hold());
		expect(record).toMatchObject({ status: 404, code: 'video_not_found', job: { id: 'job_1' } });
		expect(jobs.times).toEqual([0, 3000]);
	});

	const unknown = { status: 'failed', error: { code: 'task_not_exist', message: 'no' } };

	it.each<[string, Said]>([
		['500 video_not_found', refusal(500, 'video_not_found')],
		['500 task_not_exist', refusal(500, 'task_not_exist')],
		['200 video_not_found', refusal(200, 'video_not_found')],
		['403', refusal(403)],
		['401', refusal(401)],
		['a failure for being unknown', unknown],
	])('is asked for as the other kind after %s, also when the item told one', async (name, said) => {
		// A server in trouble may say anything of a job that is known to be a task.
		for (const kind of name.startsWith('500') ? [undefined] : (['task', undefined] as const)) {
			const say = (asked: Asked) => (asked.what === 'task' ? said : video(done)(asked));
			const { wait, jobs } = waitFor(say, { kind });
			expect((await wait.hold()).source.url).toBe(link);
			expect(jobs.times).toEqual([0, 3000, 3000]);
			expect(wait.state.job).toMatchObject({ kind: 'video', status: 'completed' });
		}
	});

	it.each<[string, Said, Said, number]>([
		['the first', refusal(403), refusal(404), 403],
		['the second', refusal(404), refusal(403), 403],
	])('is reported with what %s says, if that is more than "not found"', async (_, ...said) => {
		const [first, second, status] = said;
		const { wait } = waitFor(({ what }) => (what === 'task' ? first : second), {});
		expect((await failureOf(wait.hold())).record.status).toBe(status);
	});

	it('that the service calls failed because it does not know it is not said to have failed', async () => {
		const { wait } = waitFor(inTurn(unknown), {});
		const { record } = await failureOf(wait.hold());
		expect(record.message).toBe('Job job_1 is not known to the service: no');
		expect(record.advice).toMatch(/^Check the ID of the job/);
		expect(record.advice).not.toMatch(/wait for it|create a new job/);
	});

	it('goes on being asked for while one of the two may yet know it', async () => {
		const say = ({ what, before }: Asked) =>
			what === 'video' ? refusal(404) : before < 5 ? refusal(500, 'task_not_exist') : completed;
		expect((await waitFor(say, {}).wait.hold()).source.url).toBe(link);
	});

	it('that failed for a reason of its own is not asked for elsewhere', async () => {
		const { wait, jobs } = waitFor(inTurn({ status: 'failed', error: 'no faces' }), {});
		expect((await failureOf(wait.hold())).message).toBe('Video task job_1 failed: no faces');
		expect(jobs.asked).toHaveLength(1);
	});

	it('that has been seen once is not asked for elsewhere', async () => {
		const { wait, jobs } = waitFor(inTurn(running, refusal(404)), {});
		await failureOf(wait.hold());
		expect(jobs.asked.map(({ what }) => what)).toEqual(['task', 'task']);
	});
});

describe('the deadline', () => {
	const never = inTurn({ ...running, request_id: 'req_1' });

	it.each([20 * minute, 65_000, 10_000, 4000])(
		'is kept to the millisecond: %d',
		async (timeout) => {
			const { wait, jobs, passed } = waitFor(never, task({ timeout }));
			await failureOf(wait.hold());
			expect([passed(), jobs.times.at(-1)]).toEqual([timeout, timeout]);
		},
	);

	it('is late only as far as a last poll has to keep its distance', async () => {
		await fc.assert(
			fc.asyncProperty(fc.nat(minute), fc.nat(2 * minute), async (timeout, firstPollAfter) => {
				const { wait, passed } = waitFor(never, task({ timeout, firstPollAfter }));
				await failureOf(wait.hold());
				expect(passed()).toBeGreaterThanOrEqual(timeout);
				expect(passed()).toBeLessThan(timeout + 3000);
			}),
		);
	});

	it('tells where the job stands', async () => {
		const { wait } = waitFor(never, task());
		const { record, reach } = await failureOf(wait.hold());
		expect(record).toEqual({
			message: 'Video task job_1 did not finish within 20 minutes (last status in_progress, 30 %)',
			advice:
				'It may still be running and paid for. Collect it by its ID job_1 within 24 hours: Wait for Video with that Job ID, and no Create before it. Raise Timeout (Minutes) if videos often take longer.',
			status: 0,
			request_id: 'req_1',
			billed: 'unknown',
			retry_can_help: true,
			job: {
				...{ kind: 'task', id: 'job_1', status: 'in_progress', progress: 30 },
				request_id: 'req_1',
			},
		});
		expect(reach).toBe('none');
	});

	it('tells what went wrong last, and that nothing was seen', async () => {
		const { wait } = waitFor(inTurn(lost), task({ timeout: 30 * second }));
		const { record } = await failureOf(wait.hold());
		expect(record.message).toBe(
			'Video task job_1 did not finish within 0.5 minutes (no status seen yet)',
		);
		expect(record.advice).toContain('the connection was lost before the answer came');
	});

	it('does not lose a job that finishes with the last poll', async () => {
		const say = ({ at }: Asked) => (at < 15_000 ? running : completed);
		const { wait, passed } = waitFor(say, task({ timeout: 15_000 }));
		expect((await wait.hold()).source.url).toBe(link);
		expect(passed()).toBe(15_000);
	});

	it('limits the time of a poll, but leaves the last one enough', async () => {
		const { wait, jobs } = waitFor(never, task({ timeout: 75_000, pollInterval: 30_000 }));
		await failureOf(wait.hold());
		expect(jobs.asked.map(({ at, timeout }) => [at, timeout])).toEqual([
			[0, 60_000],
			[30_000, 45_000],
			[60_000, 15_000],
			[75_000, 5000],
		]);
	});
});

describe('a job that failed', () => {
	const failed = async (fields: object) => {
		const said = { status: 'failed', request_id: 'req_1', ...fields };
		const { wait, jobs } = waitFor(inTurn(running, said), task());
		const failure = await failureOf(wait.hold());
		expect(jobs.asked).toHaveLength(2);
		expect(failure.record).toMatchObject({
			billed: 'unknown',
			retry_can_help: false,
			request_id: 'req_1',
			raw_body: JSON.stringify(said),
			job: { id: 'job_1', status: 'failed', progress: 30, request_id: 'req_1' },
		});
		return failure.record;
	};

	it('tells why', async () => {
		const record = await failed({ error: { code: 'a_code', message: 'no faces', type: 'a_type' } });
		expect(record).toMatchObject({
			message: 'Video task job_1 failed: no faces',
			code: 'a_code',
			type: 'a_type',
		});
		expect(record.advice).toMatch(/^Change the prompt .* create a new job.* billing log/);
	});

	it('is explained by its code', async () => {
		const record = await failed({ error: { code: 'invalid_prompt' } });
		expect(record.message).toBe(
			'Video task job_1 failed: the prompt was refused for its length or content',
		);
		expect(record.advice).toMatch(/^Change the prompt; sending the same/);
	});

	it.each([{}, { error: null }, { error: '' }, { error: {} }])(
		'without a reason says so: %j',
		async (fields) => {
			expect((await failed(fields)).message).toBe(
				'Video task job_1 failed: the service gave no reason',
			);
		},
	);

	it('of the other kind is named so', async () => {
		const { wait, jobs } = waitFor(inTurn({ status: 'failed' }), { kind: 'video' });
		expect((await failureOf(wait.hold())).message).toMatch(/^Video job job_1 failed/);
		expect(jobs.asked.map(({ what }) => what)).toEqual(['video']);
	});
});

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
		['meets an error', refusal(500)],
	])('is asked for again when the first answer %s', async (_, said) => {
		const { wait, jobs } = waitForContent(said, said, content);
		expect((await wait.hold()).source.url).toBe(link);
		expect(jobs.asked.map(({ what, at }) => [what, at])).toEqual([
			['video', 0],
			['content', 0],
			['content', 5000],
			['content', 10_000],
		]);
	});

	it('gets a minute even when the deadline has passed', async () => {
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

	it('that is refused is reported with its job', async () => {
		const { wait } = waitForContent(refusal(404, 'video_not_found'));
		expect((await failureOf(wait.hold())).record).toMatchObject({
			code: 'video_not_found',
			job: { kind: 'video', id: 'job_1', status: 'completed' },
		});
	});

	it('is waited for as long as the service asks', async () => {
		const { wait, jobs } = waitForContent(refusal(429, undefined, 31_000), content);
		await wait.hold();
		expect(jobs.times).toEqual([0, 0, 31_000]);
	});
});

describe('a finished task without a link', () => {
	it('is asked again', async () => {
		const { wait, jobs } = waitFor(inTurn(done, lost, done, completed), task());
		expect((await wait.hold()).source.url).toBe(link);
		expect(jobs.times).toEqual([0, 10_000, 20_000, 30_000]);
	});

	it('is reported when it gets none', async () => {
		const { wait } = waitFor(inTurn(done), task({ timeout: 0 }));
		const { record } = await failureOf(wait.hold());
		expect(record).toMatchObject({
			message: 'Video task job_1 finished, but the answer has no link to the file',
			billed: 'yes',
			job: { id: 'job_1', status: 'completed' },
		});
	});
});

describe('Stop', () => {
	const job = { kind: 'task', id: 'job_1', status: 'in_progress', progress: 30 };
	const stopAt = async (when: 'in a pause' | 'in a poll') => {
		const stop = new AbortController();
		const say = ({ before }: Asked): Said => {
			if (before < 1) return running;
			stop.abort();
			return when === 'in a poll' ? stopped() : running;
		};
		const { wait, jobs, passed } = waitFor(say, task({ signal: stop.signal }));
		const failure = await failureOf(wait.hold());
		expect([jobs.asked.length, passed()]).toEqual([2, 10_000]);
		return failure.record;
	};

	it.each(['in a pause', 'in a poll'] as const)('ends the wait at once %s', async (when) => {
		expect(await stopAt(when)).toMatchObject({ message: 'The execution was canceled', job });
	});

	it('tells that the job may run on, and how to get it', async () => {
		const record = await stopAt('in a pause');
		expect(record.billed).toBe('unknown');
		expect(record.advice).toContain('by its ID job_1');
	});

	it('that was pressed before asks nothing', async () => {
		const { wait, jobs } = waitFor(inTurn(running), task({ signal: AbortSignal.abort() }));
		expect((await failureOf(wait.hold())).record.job).toEqual({ kind: 'task', id: 'job_1' });
		expect(jobs.asked).toEqual([]);
	});
});

describe('a fresh link', () => {
	const fresh = 'https://storage.example/video.mp4?fresh';

	it('of a task comes with a poll', async () => {
		const { wait, jobs } = waitFor(inTurn(completed, { ...completed, result_url: fresh }), task());
		await wait.hold();
		await expect(wait.freshSource()).resolves.toEqual({ url: fresh, authenticated: false });
		expect(jobs.times).toEqual([0, 3000]);
	});

	it('of a video comes with its content', async () => {
		const { wait, jobs } = waitFor(video(done), { kind: 'video' });
		await wait.hold();
		await expect(wait.freshSource()).resolves.toEqual({ url: link, authenticated: false });
		expect(jobs.asked.map(({ what }) => what)).toEqual(['video', 'content', 'content']);
	});

	it('that is not there is reported', async () => {
		const { wait } = waitFor(inTurn(completed, done), task());
		await wait.hold();
		expect((await failureOf(wait.freshSource())).message).toMatch(/has no link to the file$/);
	});

	it('that two items need at the same time comes with one poll', async () => {
		const { wait, jobs } = waitFor(inTurn(completed, { ...completed, result_url: fresh }), task());
		await wait.hold();
		const both = await Promise.all([wait.freshSource(), wait.freshSource()]);
		expect(both.map(({ url }) => url)).toEqual([fresh, fresh]);
		expect(jobs.times).toEqual([0, 3000]);
	});

	it('that is refused is reported with the job, which is paid for', async () => {
		const { wait } = waitFor(inTurn(completed, refusal(404)), task());
		await wait.hold();
		expect((await failureOf(wait.freshSource())).record).toMatchObject({
			message: expect.stringMatching(/^Video task job_1 finished\. /),
			...{ status: 404, billed: 'yes', job: { id: 'job_1', status: 'completed' } },
		});
	});

	it.each<[string, Said]>([
		['is lost', lost],
		['meets an error', refusal(500)],
		['meets the rate limit', refusal(429, 'rate_limit_exceeded')],
	])('is asked for again when the first answer %s', async (_, said) => {
		const { wait } = waitFor(inTurn(completed, said, { ...completed, result_url: fresh }), task());
		await wait.hold();
		await expect(wait.freshSource()).resolves.toMatchObject({ url: fresh });
	});
});

describe('what a wait tells meanwhile', () => {
	it('is every change of status and progress, once', async () => {
		const seen: string[] = [];
		const onChange = (note: JobSummary): void => void seen.push(describeStatus(note));
		const polls = [
			...[{ status: 'submitted' }, { status: 'submitted' }, running, running, lost],
			...[{ ...running, progress: 60 }, { status: 'in_progress' }, completed],
		];
		await waitFor(inTurn(...polls), task({ onChange })).wait.hold();
		expect(seen).toEqual([
			'last status submitted',
			'last status in_progress, 30 %',
			'last status in_progress, 60 %',
			'last status in_progress, 60 %',
			'last status completed, 100 %',
		]);
	});

	it('is where the job stands, from the beginning', () => {
		expect(waitFor(inTurn(running), { kind: 'video' }).wait.state.job).toEqual({
			kind: 'video',
			id: 'job_1',
		});
		expect(waitFor(inTurn(running), {}).wait.state.job).toEqual({ id: 'job_1' });
	});
});

describe('a wait in passes', () => {
	/** n8n looks for parked executions once a minute; between two passes the job goes through its database. */
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

	it('asks once in a pass, and gives the file in the first one after the end', async () => {
		const { jobs, count } = await passes(({ at }) => (at < 150 * second ? running : completed));
		expect(jobs.times).toEqual([0, minute, 2 * minute, 3 * minute]);
		expect(count).toBe(4);
	});

	it('asks nothing while the next poll is not due', async () => {
		const { wait, jobs } = waitFor(inTurn(completed), task());
		const { since } = wait.state;
		wait.state = { ...wait.state, nextPollAt: since + 4 * second };
		await expect(wait.pollUntil(since)).resolves.toBeUndefined();
		expect(jobs.asked).toEqual([]);
		wait.state = { ...wait.state, nextPollAt: since + 3 * second };
		await expect(wait.pollUntil(since)).resolves.toMatchObject({ source: { url: link } });
		expect(jobs.times).toEqual([3 * second]);
	});

	it('stays until the time that it is given, and leaves the next poll to another pass', async () => {
		const { wait, jobs } = waitFor(inTurn(running), task());
		const { since } = wait.state;
		await expect(wait.pollUntil(since + 30 * second)).resolves.toBeUndefined();
		expect(jobs.times).toEqual([0, 10_000, 20_000, 30_000]);
		expect(wait.state).toMatchObject({
			nextPollAt: since + 40 * second,
			job: { status: 'in_progress' },
		});
	});

	it('keeps to what the service asked for, from pass to pass', async () => {
		const later = refusal(429, 'rate_limit_exceeded', 130 * second);
		const { jobs } = await passes(inTurn(running, later, completed));
		expect(jobs.times).toEqual([0, minute, minute + 130 * second]);
	});

	it('ends at the deadline, counted from the first pass, with a last poll', async () => {
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

	it('does not count the time in which nobody could ask', async () => {
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

	it('never asks twice within three seconds, whatever the deadline', async () => {
		const clock = new SimulatedClock();
		const jobs = new SimulatedJobs(clock, inTurn(running));
		const wait = new JobWait(jobs, newJob(clock.now(), task({ timeout: second })), { clock });
		const pass = () => wait.pollUntil(clock.now());
		await expect(pass()).rejects.toThrow('did not finish');
		expect(jobs.times).toEqual([0, 3 * second]);
	});
});

describe('thousands of jobs', () => {
	it('are waited for side by side, each at its own times', async () => {
		const count = 2000;
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

	it('are waited for in passes, a minute apart, and each is noticed in the first one after its end', async () => {
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
