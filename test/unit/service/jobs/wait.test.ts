import type { GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';
import {
	describeStatus,
	type JobSummary,
} from '../../../../nodes/shared/service/errors/jobSummary';
import { startWait, type PollerState } from '../../../../nodes/shared/service/jobs/pollerState';
import { JobWait, type WaitSettings } from '../../../../nodes/shared/service/jobs/wait';
import { SimulatedClock } from '../../../support/time/simulatedClock';
import { failureOf } from '../../../support/workflows/gatewayWorld';
import {
	completed,
	inTurn,
	link,
	lost,
	page,
	proxyPage,
	refusal,
	running,
	SimulatedJobs,
	untrusted,
	type Asked,
	type Said,
} from '../../../support/time/simulatedJobs';

const minute = 60_000;

/** The responses of the service for a completed video job: its status and its content. */
const done = { status: 'completed' };
const content = { url: link };
/** Responses for a video job, whose content is requested when the job is completed. */
const video =
	(...polls: Said[]) =>
	(asked: Asked): Said =>
		asked.what === 'content' ? content : inTurn(...polls)(asked);

interface Waiting
	extends
		Pick<JobSummary, 'kind'>,
		Partial<Pick<PollerState, 'timeout' | 'pollInterval' | 'isCreated'>>,
		Partial<Omit<WaitSettings, 'clock'>> {}

const task = (settings: Waiting = {}): Waiting => ({ kind: 'task', ...settings });

/** A wait for one job in simulated time. @param say the responses of the service */
function waitFor(say: (asked: Asked) => Said, { kind, ...settings }: Waiting = task()) {
	const clock = new SimulatedClock();
	const jobs = new SimulatedJobs(clock, say);
	const start = clock.now();
	const job = { id: 'job_1', ...(kind && { kind }) };
	const state = startWait(job, { now: start, timeout: 20 * minute, ...settings });
	const wait = new JobWait(jobs, state, { clock, ...settings });
	return { jobs, wait, passed: () => clock.now() - start };
}

const isUnknown = { status: 'failed', error: { code: 'task_not_exist', message: 'no' } };
const kindsOf = (asked: Asked[]) => asked.map(({ what }) => what);

describe('a job of unknown kind', () => {
	it.each<[string, Said]>([
		['500', refusal(500)],
		['429', refusal(429)],
		['a page', page],
		['a lost response', lost],
		['an unknown status', { status: 'ok' }],
	])('is found at its endpoint whatever the other one responds: %s', async (_, said) => {
		for (const kind of ['task', 'video'] as const) {
			const right = kind === 'task' ? completed : done;
			const say = ({ what }: Asked): Said =>
				what === 'content' ? content : what === kind ? right : said;
			const { wait, jobs } = waitFor(say, {});
			expect((await wait.hold()).source.url).toBe(link);
			expect(jobs.times[1] ?? 0).toBe(kind === 'task' ? 0 : 3000);
			expect(wait.state.job).toMatchObject({ kind, status: 'completed' });
		}
	});

	const any = ['task', undefined] as const;

	it.each<[string, Said, ReadonlyArray<'task' | undefined>]>([
		['404', refusal(404), any],
		['200 video_not_found', refusal(200, 'video_not_found'), any],
		['403', refusal(403), any],
		// It says nothing about a job that the item names as a task.
		['500 task_not_exist', refusal(500, 'task_not_exist'), [undefined]],
		// A task with this reason has failed.
		['a failure because the job is unknown', isUnknown, [undefined]],
	])('is polled as the other kind after %s', async (_, said, kinds) => {
		for (const kind of kinds) {
			const say = (asked: Asked) => (asked.what === 'task' ? said : video(done)(asked));
			const { wait, jobs } = waitFor(say, { kind });
			await wait.hold();
			expect(jobs.times).toEqual([0, 3000, 3000]);
			expect(wait.state.job).toMatchObject({ kind: 'video', status: 'completed' });
		}
	});

	it.each([404, 410])('is polled as the other kind although it was created: %d', async (status) => {
		const say = (asked: Asked) => (asked.what === 'task' ? refusal(status) : video(done)(asked));
		const { wait } = waitFor(say, task({ isCreated: true }));
		await wait.hold();
		expect(wait.state.job).toMatchObject({ kind: 'video', status: 'completed' });
	});

	it.each<[string, Said, Waiting, string[]]>([
		['a refused key', refusal(401), task({ isCreated: true }), ['task', 'task']],
		['a failure', isUnknown, task(), ['task']],
		['a video that is not ready', refusal(404, 'video_not_ready'), task(), ['task', 'task']],
		['a status that names it', { status: 'new', task_id: 'job_1' }, {}, ['task', 'task']],
	])('is not polled as a video after %s', async (_, said, settings, expected) => {
		const { wait, jobs } = waitFor(inTurn(said, completed), settings);
		await wait.hold().catch(() => undefined);
		expect(kindsOf(jobs.asked)).toEqual(expected);
	});

	it.each<[string, Said, Said, status: number]>([
		['the first refuses more than "not found"', refusal(403), refusal(404), 403],
		['the second refuses more than "not found"', refusal(404), refusal(403), 403],
		['both refuse more than "not found"', refusal(401), refusal(403), 401],
		['the first says why it failed', isUnknown, refusal(500), 0],
	])('ends with what says most: %s', async (_, first, second, status) => {
		const { wait } = waitFor(({ what }) => (what === 'task' ? first : second), {});
		const { record } = await failureOf(wait.hold());
		expect(record).toMatchObject({ status, billed: 'unknown', job: { id: 'job_1' } });
		expect(record.message.includes('job_1 failed: no')).toBe(first === isUnknown);
	});

	it('is polled at both endpoints while the one that the item names refuses and the other fails', async () => {
		const say = ({ what, before }: Asked): Said => {
			if (what === 'video') return refusal(500);
			return before < 4 ? refusal(403) : completed;
		};
		const { wait, jobs } = waitFor(say, task());
		await wait.hold();
		expect(kindsOf(jobs.asked)).toEqual(['task', 'video', 'task', 'video', 'task']);
	});
});

describe('the link of a finished job', () => {
	/** Responses for each place of a link: the job and its content. The last one of each is repeated. */
	const places = (said: Record<'job' | 'content', Said[]>) => {
		const counts = { job: 0, content: 0 };
		return ({ what }: Asked): Said => {
			const place = what === 'content' ? 'content' : 'job';
			return said[place][Math.min(counts[place]++, said[place].length - 1)];
		};
	};
	const notFound = refusal(404, 'video_not_found');
	const notReady = refusal(404, 'video_not_ready');

	it.each<[string, Said]>([
		['is not ready', notReady],
		['is lost', lost],
		['is a page', page],
		['is a refusal', notFound],
		['has no link', {}],
	])('is looked for in both places in turn while the first one %s', async (_, said) => {
		const requestsOf = async (settings: Waiting, job: Said[], contents: Said[]) => {
			const { wait, jobs } = waitFor(places({ job, content: contents }), settings);
			expect((await wait.hold()).source.url).toBe(link);
			return jobs.asked.map(({ what, at }) => `${what} ${at / 1000}`);
		};
		expect(await requestsOf({ kind: 'video' }, [done], [said, said, content])).toEqual([
			'video 0',
			'content 0',
			'video 3',
			'content 8',
			'video 13',
			'content 18',
		]);
		expect(await requestsOf(task(), [done, said], [notFound, content])).toEqual([
			'task 0',
			'content 3',
			'task 13',
			'content 23',
		]);
	});

	it('is requested again when Retry-After says so', async () => {
		const contents = [refusal(503, undefined, 31_000), content];
		const { wait, jobs } = waitFor(places({ job: [done], content: contents }), { kind: 'video' });
		await wait.hold();
		expect(jobs.times).toEqual([0, 0, 3000, 34_000]);
	});

	it.each<[string, Waiting, Said[], Said[], minutes: number]>([
		['a video', { kind: 'video' }, [done], [page], 1],
		['a task', task(), [done], [notFound], 1],
		['a task after the Timeout', task({ timeout: 0 }), [done], [page], 1],
		// The status of a finished job is final.
		['a strange task', task(), [done, { status: 'failed' }], [notFound], 1],
		['a video that is not ready', { kind: 'video', timeout: 5 * minute }, [done], [notReady], 5],
		['a video that goes on', { kind: 'video', timeout: 5 * minute }, [done], [running], 5],
		['a busy service', task({ timeout: 5 * minute }), [done, refusal(503)], [page], 5],
		['a task that runs again', task({ timeout: 5 * minute }), [done, running], [notFound], 5],
	])('is looked for as long as it may still come: %s', async (_, settings, ...given) => {
		const [job, contents, minutes] = given;
		const { wait, jobs, passed } = waitFor(places({ job, content: contents }), settings);
		const { record } = await failureOf(wait.hold());
		expect(passed()).toBe(minutes * minute);
		expect(jobs.shortestGap).toBeGreaterThanOrEqual(3000);
		expect(record.message).toMatch(/^Video job job_1 finished.*(Could not|no link to the file)/);
		expect(record).toMatchObject({
			billed: 'yes',
			raw_body: JSON.stringify(done),
			job: { kind: settings.kind, id: 'job_1', status: 'completed' },
		});
		expect(record.advice).toContain('The video is finished and charged, and it is not lost.');
		expect(record.advice).not.toContain('Check the ID');
	});

	it.each<[Waiting['kind'], source: object, own: object]>([
		['task', {}, { task_id: 'job_1', result_url: link, id: 'other', url: 'relative' }],
		[
			'video',
			{ mayNeedKey: true },
			{ id: 'job_1', url: link, service_id: 'other', service_url: 'relative' },
		],
	])('comes with the fields of the %s that has it', async (kind, source, own) => {
		const job = { ...completed, id: 'other', url: 'relative' };
		const { wait } = waitFor(places({ job: [job], content: [lost] }), { kind });
		const { fields, ...finished } = await wait.hold();
		expect(finished).toEqual({ source: { url: link, authenticated: false, ...source } });
		expect(fields).toMatchObject(own);
	});

	it('of a video comes from its content, with the fields of both', async () => {
		const say = video({ status: 'processing' }, done);
		const { wait, jobs } = waitFor(say, { kind: 'video' });
		await expect(wait.hold()).resolves.toEqual({
			source: { url: link, authenticated: false, mayNeedKey: true },
			fields: { status: 'completed', id: 'job_1', url: link },
		});
		expect(jobs.times).toEqual([0, 5000, 5000]);
	});
});

describe('failed polls of a job that may not exist', () => {
	it.each<[string, Said, isSure: boolean]>([
		['401', refusal(401), true],
		['403', refusal(403), true],
		['404', refusal(404), true],
		['422', refusal(422), true],
		// A known code decides, whatever the status.
		['200 video_not_found', refusal(200, 'video_not_found'), true],
		['400 video_not_ready', refusal(400, 'video_not_ready'), false],
		['a rate limit', refusal(429, 'rate_limit_exceeded'), false],
		['an empty balance', refusal(403, 'quota_exceeded'), false],
		...[400, 401, 403, 404, 407, 422, 502].map((status): [string, Said, boolean] => [
			...([`${status} of a proxy`, proxyPage(status), false] as const),
		]),
		['no response', lost, false],
		['a page', page, false],
		['no status', {}, false],
	])('end the wait after seconds only when the service is sure: %s', async (_, said, isSure) => {
		const timeout = 5 * minute;
		const { wait, jobs, passed } = waitFor(inTurn(said), { timeout });
		const { record } = await failureOf(wait.hold());
		expect(kindsOf(jobs.asked).slice(0, 3)).toEqual(['task', 'video', 'task']);
		expect(jobs.shortestGap).toBeGreaterThanOrEqual(3000);
		expect(record).toMatchObject({ billed: 'unknown', job: { id: 'job_1' } });
		if (isSure) {
			expect(jobs.times).toEqual([0, 3000, 6000]);
			expect(record.status).toBe((said as GatewayError).failure.status);
		} else {
			expect(passed()).toBeGreaterThanOrEqual(timeout);
			expect(record.message).toMatch(/did not finish within 5 minutes \(no status check yet\)$/);
			expect(record.advice).toContain('The last poll failed: Could not get the job status');
		}
	});

	it('do not hide a programming error', async () => {
		// The types do not allow it, but it can happen.
		const mistake = new TypeError('a mistake') as unknown as GatewayError;
		await expect(waitFor(inTurn(mistake)).wait.hold()).rejects.toThrow(TypeError);
	});
});

describe('the deadline', () => {
	it.each<[string, Said, RegExp]>([
		['an untrusted certificate', untrusted, /certificate .* \(NODE_EXTRA_CA_CERTS\)\.$/],
		['a login at a proxy', proxyPage(407), /\(HTTP 407\)\. .*a proxy .* a login of its own/],
		['the refusal of a proxy', proxyPage(403), /\(HTTP 403\)\. .*a proxy or a firewall .* refuses/],
		// To run again could order another job.
		['a proxy that gets no response', proxyPage(502), /\(HTTP 502\)\.$/],
	])('is reported with the advice on a last poll that failed by %s', async (_, said, advice) => {
		const { wait } = waitFor(inTurn(running, said), task());
		const { record } = await failureOf(wait.hold());
		expect(record).toMatchObject({ billed: 'unknown', retry_can_help: true });
		expect(record.advice).toMatch(/may be charged for it.*The last poll failed: /);
		expect(record.advice).toMatch(advice);
		expect(record.advice).not.toMatch(/nothing was charged|raw_body|ordered nothing/);
	});
});

it('reports every change of status and progress once', async () => {
	const seen: string[] = [];
	const onPoll = (job: JobSummary, hasChanged: boolean): void =>
		void (hasChanged && seen.push(describeStatus(job)));
	const polls = [
		{ status: 'submitted' },
		{ status: 'submitted' },
		running,
		running,
		lost,
		{ ...running, progress: 60 },
		{ status: 'in_progress' },
		completed,
	];
	await waitFor(inTurn(...polls), task({ onPoll })).wait.hold();
	expect(seen).toEqual([
		'last status submitted',
		'last status in_progress, 30 %',
		'last status in_progress, 60 %',
		'last status in_progress, 60 %',
		'last status completed, 100 %',
	]);
});
