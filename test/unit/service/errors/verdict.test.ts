import { refused, type RequestInfo } from '../../../../nodes/shared/service/errors/requestErrors';
import {
	isOutOfReach,
	verdictOf,
	type FailedRequest,
	type SentRequest,
} from '../../../../nodes/shared/service/errors/verdict';
import type { AddressProblem } from '../../../../nodes/shared/service/errors/networkError';

/** Each kind of request, in the order of the columns below. */
const kinds: SentRequest[] = [
	{ cost: 'read' },
	{ cost: 'generation' },
	{ cost: 'generation', resendsLost: false },
	{ cost: 'job' },
	{ cost: 'job', resendsLost: true },
	{ cost: 'job', idempotencyKey: 'a-key' },
];

/** How often the request is sent in all, and whether a later try of the user can help. */
const words: Record<string, [tries: number, helps: boolean]> = {
	patient: [8, true],
	again: [5, true],
	later: [1, true],
	twice: [2, false],
	never: [1, false],
};

/** The verdict on each kind of request, or one for all; with a question mark, it may be charged. */
const meant = (columns: string) => {
	const written = columns.split(' ');
	return kinds.map((_, column) => {
		const word = written[column] ?? columns;
		const [tries, helps] = words[word.replace('?', '')];
		return { charged: word.endsWith('?') ? 'unknown' : 'no', tries, helps };
	});
};

const unsent = (problem: AddressProblem): Partial<FailedRequest> => ({
	reach: 'unsent',
	kind: problem,
});
const proxied = (status: number): Partial<FailedRequest> => ({ reach: 'proxied', status });

describe('a request that the service did not answer', () => {
	it.each<[string, Partial<FailedRequest>, string]>([
		['bad input or Stop', { reach: 'none' }, 'later'],
		['never sent', { reach: 'unsent' }, 'again'],
		['refused by the port', unsent('closedPort'), 'again'],
		['to a bad certificate', unsent('badCertificate'), 'later'],
		['blocked by n8n', unsent('blocked'), 'later'],
		['redirected', { reach: 'answered', kind: 'foreignRedirect' }, 'never'],
		['a file link with the key', { kind: 'linkCarriesKey' }, 'never'],
		['lost', { reach: 'lost' }, 'again again never never? again? again?'],
		['a page with 500', proxied(500), 'again twice? never? never? again? again?'],
		['a page with 502', proxied(502), 'again twice? never? never? again? again?'],
		['a page with 408', proxied(408), 'again never? never? never? again? again?'],
		['a page with 504', proxied(504), 'again never? never? never? again? again?'],
		['a page with 522', proxied(522), 'again never? never? never? again? again?'],
		['a page with 524', proxied(524), 'again never? never? never? again? again?'],
		['unreadable', { reach: 'unreadable' }, 'again never? never? never? never? again?'],
		[
			'too large',
			{ reach: 'unreadable', kind: 'excess' },
			'never never? never? never? never? never?',
		],
	])('is sent again, and may be charged, as its kind allows: %s', (_, failure, columns) => {
		const failed = { reach: 'answered', status: 0, ...failure } as const;
		expect(kinds.map((kind) => verdictOf(failed, kind))).toEqual(meant(columns));
	});

	it.each(['badCertificate', 'blocked'] as const)(
		'is sent once to each base URL where the address is wrong: %s',
		(problem) => {
			const failure = { reach: 'unsent', status: 0, ...unsent(problem) } as const;
			const verdict = verdictOf(failure, { cost: 'read', hasBackup: true });
			expect(verdict).toEqual({ charged: 'no', tries: 2, helps: true });
		},
	);

	it('is not sent a third time when an earlier try may be charged', () => {
		const lost = { reach: 'lost', status: 0 } as const;
		const request = { cost: 'generation', isUnclear: true } as const;
		expect(verdictOf(lost, request).tries).toBe(1);
		expect(verdictOf(lost, { ...request, resendsLost: true }).tries).toBe(5);
	});
});

describe('a request that the service refused', () => {
	const nothing = 'never';
	const passing = 'again again again later later again';
	const inVain = 'again again again never? again? again?';
	const made = inVain;

	type Row = [status: number, said: object, columns: string];

	it.each<Row>([
		...[400, 401, 402, 403, 404, 410, 413, 422].map((status): Row => [status, {}, nothing]),
		[400, { code: 'upstream_error' }, 'later'],
		// With a key, it says that an earlier try arrived.
		[409, {}, 'never never never never never again?'],
		[409, { code: 'invalid_prompt' }, nothing],
		...[425, 500, 503].map((status): Row => [status, {}, passing]),
		[425, { code: 'upstream_error' }, passing],
		...['rate_limit_exceeded', 'other', undefined].map((code): Row => [429, { code }, 'patient']),
		[429, { code: 'quota_exceeded' }, nothing],
		[429, { type: 'insufficient_quota' }, nothing],
		[429, { message: 'Insufficient balance, please top up' }, nothing],
		[429, { message: 'User quota is not enough' }, nothing],
		[429, { message: 'You have run out of credits' }, nothing],
		[500, { code: 'upstream_error' }, 'again'],
		// Some gateways pass on the status of a proxy before the provider.
		[502, { code: 'bad_response_status_code', type: 'upstream_error' }, passing],
		[503, { code: 'upstream_error' }, passing],
		[500, { code: 'invalid_prompt' }, nothing],
		[500, { code: 'write_response_body_failed' }, 'again again again never? again? again?'],
		[500, { code: 'toString' }, passing],
		// The provider may have accepted a job before it was waited for in vain.
		...[{ code: 'upstream_error' }, {}].flatMap((error) =>
			[408, 504, 524].map((status): Row => [status, error, inVain]),
		),
		[500, { code: 'upstream_error', message: 'context deadline exceeded' }, inVain],
		[500, { message: 'The request timed out' }, inVain],
		// The error itself speaks of the job.
		...[
			{ message: 'The task was submitted, but saving it failed' },
			{ task_id: 'task_1' },
			{ message: 'Job submitted; no status yet' },
			{ message: '任务已提交，请稍后查询' },
			{ message: 'Video vid_1 is still processing' },
			{ data: { job_id: 'job_1' } },
		].map((said): Row => [500, { code: 'upstream_error', ...said }, made]),
		...[
			'The task was not created',
			'Too many tasks are running',
			'Job creation failed',
			'Could not start: another task is running',
			'Error while processing the request',
			'Request id: abc is invalid',
			'Task submitted failed',
			'任务提交失败',
		].map((message): Row => [500, { code: 'upstream_error', message }, 'again']),
		[400, { code: 'upstream_error', message: 'Timeout' }, 'later later later never? again? again?'],
		[400, { message: 'timeout must be a number' }, nothing],
		[429, { message: 'Rate limit: timed out in the queue' }, 'patient'],
		[504, { code: 'invalid_prompt' }, nothing],
		[200, { code: 'server_error' }, 'later'],
		[200, { message: 'Timeout' }, 'never later later never? again? again?'],
		[200, { code: '429' }, 'patient'],
	])('is sent again only where that can help: %d %j', (status, error, columns) => {
		const text = JSON.stringify({ error: { message: 'No', ...error } });
		const verdicts = kinds.map((kind) => {
			const request: RequestInfo = { purpose: 'ask', ...kind };
			const { failure } = refused(request, { status, headers: {}, text });
			const verdict = verdictOf(failure, kind);
			expect([failure.billed, failure.retry_can_help]).toEqual([verdict.charged, verdict.helps]);
			return verdict;
		});
		expect(verdicts).toEqual(meant(columns));
	});
});

it.each([
	['unsent', 0, true, true],
	['lost', 0, true, true],
	['proxied', 502, true, false],
	['proxied', 503, true, false],
	['proxied', 504, true, false],
	['proxied', 500, false, false],
	['answered', 503, false, false],
	['unreadable', 502, false, false],
	['none', 0, false, false],
] as const)(
	'the other base URL is tried where this one is out of reach: %s, HTTP %d',
	(reach, status, isOut, isOutForJob) => {
		const outFor = (cost: SentRequest['cost']) => isOutOfReach({ reach, status }, cost);
		expect([outFor('read'), outFor('generation'), outFor('job')]).toEqual([
			isOut,
			isOut,
			isOutForJob,
		]);
	},
);
