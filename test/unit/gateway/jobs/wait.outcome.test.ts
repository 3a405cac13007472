import { stopped, type GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import {
	describeStatus,
	type JobSummary,
} from '../../../../nodes/shared/gateway/errors/jobSummary';
import { fc } from '../../../support/data/fuzz';
import { failureOf } from '../../../support/workflows/gatewayWorld';
import { done, minute, task, video, waitFor } from '../../../support/workflows/jobWaits';
import {
	completed,
	inTurn,
	link,
	lost,
	page,
	proxyPage,
	refusal,
	running,
	untrusted,
	type Asked,
	type Said,
} from '../../../support/time/simulatedJobs';

describe('finished jobs', () => {
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
			message: 'Video job job_1 failed: no faces',
			code: 'a_code',
			type: 'a_type',
		});
		expect(record.advice).toMatch(
			/^Change the prompt .* create a new job.* does not say whether it bills/,
		);
	});
});

describe('failed polls', () => {
	/** For which jobs such polls end the wait: all, or those that are not known to exist, or none. */
	type Ends = 'all' | 'unknown' | 'none';

	const polls: Array<[name: string, said: Said, ends: Ends]> = [
		['401', refusal(401), 'all'],
		['403', refusal(403), 'all'],
		['404', refusal(404), 'unknown'],
		// A known code decides, whatever the status.
		['200 video_not_found', refusal(200, 'video_not_found'), 'unknown'],
		['400 video_not_ready', refusal(400, 'video_not_ready'), 'none'],
		['a rate limit', refusal(429, 'rate_limit_exceeded'), 'none'],
		['an empty balance', refusal(403, 'quota_exceeded'), 'none'],
		...[400, 401, 403, 404, 407, 422, 502].map((status): [string, Said, Ends] => [
			`${status} of a proxy`,
			proxyPage(status),
			'none',
		]),
		['no response', lost, 'none'],
		['a page', page, 'none'],
		['no status', {}, 'none'],
	];
	const timeout = 5 * minute;

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
					'Video job job_1 did not finish within 5 minutes (no status check yet)',
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
			message: 'Video job job_1 did not finish within 20 minutes (last status in_progress, 30 %)',
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

	it.each<[string, Said, RegExp]>([
		[
			'a certificate that n8n does not trust',
			untrusted,
			/could not be reached\. The certificate of the gateway is not accepted .* \(NODE_EXTRA_CA_CERTS\)\.$/,
		],
		[
			'a proxy that asks for a login',
			proxyPage(407),
			/\(HTTP 407\)\. A proxy .* a login of its own/,
		],
		[
			'a proxy that refuses it',
			proxyPage(403),
			/\(HTTP 403\)\. The response is a web page, .*proxy/,
		],
		// To run again could order another job.
		['a proxy that gets no response', proxyPage(502), /\(HTTP 502\)\.$/],
		['a rate limit', refusal(429, 'rate_limit_exceeded'), /rate_limit_exceeded\)\.$/],
	])('gives the advice on the last poll, which failed by %s', async (_, said, advice) => {
		const { wait } = waitFor(inTurn(running, said), task());
		const { record } = await failureOf(wait.hold());
		expect(record.advice).toMatch(/may be charged for it.*The last poll failed: /);
		expect(record.advice).toMatch(advice);
		expect(record.advice).not.toMatch(/nothing was charged|raw_body|ordered nothing/);
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
			expect(await stopAt(when)).toMatchObject({
				...{ message: 'The execution was canceled', billed: 'unknown', job },
			});
		},
	);
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
});
