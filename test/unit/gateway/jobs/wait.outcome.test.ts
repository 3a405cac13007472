import { stopped, type GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import {
	describeStatus,
	type JobSummary,
} from '../../../../nodes/shared/gateway/errors/jobSummary';
import { fc } from '../../../support/data/fuzz';
import { failureOf } from '../../../support/workflows/gatewayWorld';
import {
	done,
	minute,
	task,
	video,
	waitFor,
	type Waiting,
} from '../../../support/workflows/jobWaits';
import {
	completed,
	inTurn,
	link,
	lost,
	page,
	proxyPage,
	refusal,
	running,
	unsent,
	type Asked,
	type Said,
} from '../../../support/time/simulatedJobs';

describe('finished jobs', () => {
	it('returns the fields of the last response and the link of a finished task', async () => {
		const said = { ...completed, task_id: 'job_1' };
		const { wait, jobs } = waitFor(inTurn({ status: 'submitted' }, running, said), task());
		await expect(wait.hold()).resolves.toEqual({
			source: { url: link, authenticated: false },
			fields: said,
		});
		expect(jobs.times).toEqual([0, 10_000, 20_000]);
	});

	it('requests the content of a finished video job', async () => {
		const { wait, jobs } = waitFor(video({ status: 'processing' }, done), { kind: 'video' });
		await expect(wait.hold()).resolves.toEqual({
			source: { url: link, authenticated: false, mayNeedKey: true },
			fields: { status: 'completed', id: 'job_1', url: link },
		});
		expect(jobs.asked.map(({ what, at }) => [what, at])).toEqual([
			['video', 0],
			['video', 5000],
			['content', 5000],
		]);
	});

	it('never polls a finished job again', async () => {
		const { wait, jobs, clock } = waitFor(inTurn(running, completed), task());
		await wait.hold();
		await clock.sleep(60 * minute);
		expect(jobs.asked).toHaveLength(2);
	});

	it('recognises a finished job by the native states', async () => {
		const native = { output: { task_status: 'SUCCEEDED', video_url: link } };
		const { wait } = waitFor(inTurn({ output: { task_status: 'PENDING' } }, native), task());
		expect((await wait.hold()).source.url).toBe(link);
	});

	it('waits through states that the specification does not name', async () => {
		const { wait } = waitFor(inTurn({ status: 'POSTPROCESSING' }, { status: 7 }, completed));
		expect((await wait.hold()).source.url).toBe(link);
	});
});

describe('failed jobs', () => {
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

	it('reports why a job failed', async () => {
		const record = await failed({ error: { code: 'a_code', message: 'no faces', type: 'a_type' } });
		expect(record).toMatchObject({
			message: 'Video task job_1 failed: no faces',
			code: 'a_code',
			type: 'a_type',
		});
		expect(record.advice).toMatch(
			/^Change the prompt .* create a new job.* does not say whether it bills/,
		);
	});

	it('explains the failure of a job by its code', async () => {
		const record = await failed({ error: { code: 'invalid_prompt' } });
		expect(record.message).toBe(
			'Video task job_1 failed: the prompt was refused for its length or content',
		);
		expect(record.advice).toMatch(/^Change the prompt; sending the same/);
	});

	it.each([{}, { error: null }, { error: '' }, { error: {} }])(
		'says that the service gave no reason for a failure: %j',
		async (fields) => {
			expect((await failed(fields)).message).toBe(
				'Video task job_1 failed: the service gave no reason',
			);
		},
	);

	it('names a failed video job as a video job', async () => {
		const { wait, jobs } = waitFor(inTurn({ status: 'failed' }), { kind: 'video' });
		expect((await failureOf(wait.hold())).message).toMatch(/^Video job job_1 failed/);
		expect(jobs.asked.map(({ what }) => what)).toEqual(['video']);
	});
});

describe('failed polls', () => {
	/** For which jobs such polls end the wait: all, or those that are not known to exist, or none. */
	type Ends = 'all' | 'unknown' | 'none';

	const polls: Array<[name: string, said: Said, ends: Ends]> = [
		['401 invalid_api_key', refusal(401, 'invalid_api_key'), 'all'],
		['401', refusal(401), 'all'],
		['403', refusal(403), 'all'],
		['404', refusal(404), 'unknown'],
		['404 video_not_found', refusal(404, 'video_not_found'), 'unknown'],
		['410', refusal(410), 'unknown'],
		// A known code decides, whatever the status.
		['200 video_not_found', refusal(200, 'video_not_found'), 'unknown'],
		['500 video_not_found', refusal(500, 'video_not_found'), 'unknown'],
		['400 task_not_exist', refusal(400, 'task_not_exist'), 'unknown'],
		['400', refusal(400), 'unknown'],
		['422', refusal(422), 'unknown'],
		['400 video_not_ready', refusal(400, 'video_not_ready'), 'none'],
		['404 video_not_ready', refusal(404, 'video_not_ready'), 'none'],
		['413', refusal(413), 'none'],
		['a rate limit', refusal(429, 'rate_limit_exceeded'), 'none'],
		['an empty balance', refusal(403, 'quota_exceeded'), 'none'],
		['408', refusal(408), 'none'],
		['425', refusal(425), 'none'],
		['500', refusal(500), 'none'],
		['500 upstream_error', refusal(500, 'upstream_error'), 'none'],
		...[400, 401, 403, 404, 407, 422, 502].map((status): [string, Said, Ends] => [
			`${status} of a proxy`,
			proxyPage(status),
			'none',
		]),
		['no response', lost, 'none'],
		['no connection', unsent, 'none'],
		['a page', page, 'none'],
		['no status', {}, 'none'],
	];
	const timeout = 5 * minute;

	describe.each<[string, Said[], Waiting]>([
		['was seen', [running], task({ timeout })],
		['comes from its creation', [], task({ timeout, isCreated: true })],
	])('of a job that %s', (_, first, settings) => {
		it.each(polls)(
			'end the wait after a minute only when the key is refused: %s',
			async (_, said, ends) => {
				const { wait, jobs, passed } = waitFor(inTurn(...first, said), settings);
				const { record } = await failureOf(wait.hold());
				if (first.length > 0)
					expect(new Set(jobs.asked.map(({ what }) => what))).toEqual(new Set(['task']));
				expect(record.billed).toBe('unknown');
				expect(record.job).toEqual(wait.state.job);
				if (ends === 'all') {
					const since = first.length * 10_000;
					const refusals = [since, since + 10_000, since + minute];
					expect(jobs.times.slice(first.length)).toEqual(refusals);
					expect(record.status).toBe((said as GatewayError).failure.status);
				} else {
					expect(passed()).toBeGreaterThanOrEqual(timeout);
					expect(record.message).toContain('did not finish within 5 minutes');
					expect(record.advice).toContain('The last poll failed: Could not get the job status');
				}
			},
		);
	});

	it.each(polls)(
		'of a job that may not exist end the wait after a minute only when the service is sure: %s',
		async (_, said, ends) => {
			const { wait, jobs, passed } = waitFor(inTurn(said), { timeout });
			const { record } = await failureOf(wait.hold());
			const kinds = jobs.asked.map(({ what }) => what);
			expect(kinds.slice(0, 3)).toEqual(['task', 'video', 'task']);
			expect(jobs.shortestGap).toBeGreaterThanOrEqual(3000);
			expect(record).toMatchObject({ billed: 'unknown', job: { id: 'job_1' } });
			if (ends === 'none') {
				expect(passed()).toBeGreaterThanOrEqual(timeout);
				expect(record.message).toBe(
					'Job job_1 did not finish within 5 minutes (no status check yet)',
				);
				expect(record.advice).toContain('The last poll failed: Could not get the job status');
			} else {
				expect(jobs.times).toEqual([0, 3000, 60_000]);
				expect(record.status).toBe((said as GatewayError).failure.status);
			}
		},
	);

	it('does not hide a programming error', async () => {
		// The types do not allow it, but it can happen.
		const mistake = new TypeError('a mistake') as unknown as GatewayError;
		await expect(waitFor(inTurn(mistake)).wait.hold()).rejects.toThrow(TypeError);
	});
});

describe('the deadline', () => {
	const never = inTurn({ ...running, request_id: 'req_1' });

	it.each([20 * minute, 65_000, 10_000, 4000])(
		'ends the wait at the deadline, to the millisecond: %d',
		async (timeout) => {
			const { wait, jobs, passed } = waitFor(never, task({ timeout }));
			await failureOf(wait.hold());
			expect([passed(), jobs.times.at(-1)]).toEqual([timeout, timeout]);
		},
	);

	it('ends the wait less than 3 s after the deadline, whenever the first poll is', async () => {
		await fc.assert(
			fc.asyncProperty(fc.nat(minute), fc.nat(2 * minute), async (timeout, firstPollAfter) => {
				const { wait, passed } = waitFor(never, task({ timeout, firstPollAfter }));
				await failureOf(wait.hold());
				expect(passed()).toBeGreaterThanOrEqual(timeout);
				expect(passed()).toBeLessThan(timeout + 3000);
			}),
		);
	});

	it('reports the status and the progress of the job at the deadline', async () => {
		const { wait } = waitFor(never, task());
		const { record, reach } = await failureOf(wait.hold());
		expect(record).toEqual({
			message: 'Video task job_1 did not finish within 20 minutes (last status in_progress, 30 %)',
			advice:
				'It may still be running, and you may be charged for it. Collect it by its ID job_1 within 24 hours: Wait for Video with that Job ID, and no Create before it. Raise Timeout (Minutes) if videos often take longer.',
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

	it('returns a job that finishes with the last poll', async () => {
		const say = ({ at }: Asked) => (at < 15_000 ? running : completed);
		const { wait, passed } = waitFor(say, task({ timeout: 15_000 }));
		expect((await wait.hold()).source.url).toBe(link);
		expect(passed()).toBe(15_000);
	});

	it('limits the time of each poll to the rest of the wait, and leaves 5 s for the last one', async () => {
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

	it.each(['in a pause', 'in a poll'] as const)(
		'ends the wait at once at Stop %s',
		async (when) => {
			expect(await stopAt(when)).toMatchObject({ message: 'The execution was canceled', job });
		},
	);

	it('says at Stop that the job may be charged, and how to collect it', async () => {
		const record = await stopAt('in a pause');
		expect(record.billed).toBe('unknown');
		expect(record.advice).toContain('by its ID job_1');
	});

	it('sends no poll when Stop was pressed before the wait', async () => {
		const { wait, jobs } = waitFor(inTurn(running), task({ signal: AbortSignal.abort() }));
		expect((await failureOf(wait.hold())).record.job).toEqual({ kind: 'task', id: 'job_1' });
		expect(jobs.asked).toEqual([]);
	});
});

describe('the progress of a wait', () => {
	it('reports every change of status and progress once', async () => {
		const seen: string[] = [];
		const onChange = (job: JobSummary): void => void seen.push(describeStatus(job));
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

	it('knows the kind and the ID of the job before the first poll', () => {
		expect(waitFor(inTurn(running), { kind: 'video' }).wait.state.job).toEqual({
			kind: 'video',
			id: 'job_1',
		});
		expect(waitFor(inTurn(running), {}).wait.state.job).toEqual({ id: 'job_1' });
	});
});
