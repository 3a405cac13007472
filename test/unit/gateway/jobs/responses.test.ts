import {
	UnusableResponse,
	type ServiceResponse,
} from '../../../../nodes/shared/gateway/client/response';
import {
	createdTask,
	createdVideo,
	jobStatus,
	videoContent,
} from '../../../../nodes/shared/gateway/jobs/responses';
import type { Phase } from '../../../../nodes/shared/gateway/protocol/jobs';
import { answerOf } from '../../../support/data/answers';

const cutAfter = (text: string, headers = {}) =>
	answerOf(text, { headers, json: undefined, broken: 'aborted' });

describe('created tasks', () => {
	const specified = {
		output: { task_id: 'task_1', task_status: 'PENDING' },
		request_id: 'req_1',
	};

	it('reads a created task in the form of the specification, and changes nothing in it', () => {
		expect(createdTask(answerOf(specified))).toEqual({ id: 'task_1', fields: specified });
	});

	it('keeps the request ID of the body, and adds that of the header beside it', () => {
		const head = { headers: { 'x-request-id': 'head_1' }, requestId: 'head_1' };
		const { fields } = createdTask(answerOf(specified, head));
		expect(fields).toEqual({ ...specified, http_request_id: 'head_1' });
	});

	it.each([
		'{"output":{"task_id":"task_1","task_status":"PEN',
		'{"output":{"task_id" : "task_1"',
		'{"request_id":"req_1","output":{"task_status":"PENDING","task_id":"task_1"}',
	])('keeps the task ID when the response breaks off after it: %s', (text) => {
		expect(createdTask(cutAfter(text, { 'x-request-id': 'head_1' }))).toEqual({
			id: 'task_1',
			fields: { task_id: 'task_1', request_id: 'head_1' },
		});
	});

	it.each<[string, ServiceResponse]>([
		['is a list', answerOf(['task_1'])],
		['has an object as the ID', answerOf({ output: { task_id: { value: 'task_1' } } })],
	])('invents no task ID when the response %s', (_, response) => {
		expect(() => createdTask(response)).toThrow(UnusableResponse);
	});
});

describe('created videos', () => {
	it('reads a created video in the form of the specification, and changes nothing in it', () => {
		const body = { id: 'video_1', object: 'video', status: 'queued' };
		expect(createdVideo(answerOf(body))).toEqual({ id: 'video_1', fields: body });
	});

	it.each<[string, object]>([
		['under the name video_id', { video_id: 'video_1' }],
		['within data', { data: { id: 'video_1' } }],
		['under the name video_id within data', { data: { video_id: 'video_1' } }],
		['within output', { output: { id: 'video_1' } }],
	])('finds the video ID %s, and passes it on as id', (_, body) => {
		const job = createdVideo(answerOf(body));
		expect(job).toEqual({ id: 'video_1', fields: { ...body, id: 'video_1' } });
	});

	it('keeps the task ID of a created video under a name that the next node does not look for', () => {
		const output = { task_id: 'task_2', seconds: 5 };
		const body = { id: 'video_1', task_id: 'task_1', output, status: 'queued' };
		const { fields } = createdVideo(answerOf(body));
		expect(JSON.parse(JSON.stringify(fields))).toEqual({
			...{ id: 'video_1', service_task_id: 'task_1', status: 'queued' },
			output: { service_task_id: 'task_2', seconds: 5 },
		});
	});
});

describe('polled jobs', () => {
	it('reads a status in the form of the task endpoint', () => {
		const body = { task_id: 'task_1', status: 'in_progress', progress: 30 };
		expect(jobStatus(answerOf(body, { requestId: 'req_1' }))).toEqual({
			status: 'in_progress',
			phase: 'running',
			progress: 30,
			text: JSON.stringify(body),
			fields: { ...body, request_id: 'req_1' },
		});
	});

	it.each<[unknown, Phase | undefined]>([
		['submitted', 'queued'],
		['queued', 'queued'],
		['RUNNING', 'running'],
		['processing', 'running'],
		['SUCCEEDED', 'succeeded'],
		['COMPLETED', 'succeeded'],
		[' Completed ', 'succeeded'],
		['UNKNOWN', undefined],
		['rendering_pass_2', undefined],
		['constructor', undefined],
		[2, undefined],
	])('reads the state %j', (status, phase) => {
		expect(jobStatus(answerOf({ status })).phase).toBe(phase);
	});

	it.each<[string, object, Phase | undefined]>([
		['success, running within', { status: 'success', data: { status: 'processing' } }, 'running'],
		[
			'success, and running in the native form',
			{ status: 'SUCCESS', output: { task_status: 'RUNNING' } },
			'running',
		],
		['success, and running in result', { status: 'done', result: { state: 'queued' } }, 'queued'],
		['an error, running within data', { status: 'error', data: { status: 'queued' } }, 'queued'],
		['success only', { code: 200, status: 'success' }, 'succeeded'],
		['200 only, which is no status of a job', { status: 200, url: 'https://a.b/c' }, undefined],
		['success, and an unknown word', { status: 'success', data: { status: 'pass_2' } }, undefined],
		[
			'success beside the status of its file',
			{ status: 'success', data: { status: 200 } },
			'succeeded',
		],
		['success, and running as task_status', { status: 'ok', task_status: 'submitted' }, 'queued'],
		[
			'completed as specified, whatever else',
			{ status: 'completed', data: { status: 'x' } },
			'succeeded',
		],
		[
			'failed as specified, whatever else',
			{ status: 'failed', output: { status: 'done' } },
			'failed',
		],
	])('tells the status of the job from that of the call: %s', (_, body, phase) => {
		expect(jobStatus(answerOf(body)).phase).toBe(phase);
	});

	it.each<[unknown, number | undefined]>([
		[30, 30],
		['30%', 30],
		[' 30 % ', 30],
		['soon', undefined],
	])('reads the progress %j', (progress, expected) => {
		expect(jobStatus(answerOf({ status: 'in_progress', progress })).progress).toBe(expected);
	});

	it('refuses the response to a poll that has an object as the status', () => {
		const response = answerOf({ status: { name: 'completed' } });
		expect(() => jobStatus(response)).toThrow(UnusableResponse);
	});
});

describe('the link to a video', () => {
	const link = 'https://storage.example/v.mp4?X-Sig=a%2Fb%20c';
	const found = (body: unknown) => videoContent(answerOf(body)).source;

	it.each(['data', 'video', 'content', 'output', 'result', 'file', 'src', 'href', 'note'])(
		'finds the link to a video as %s',
		(name) => {
			const body = { id: 'video_1', [name]: link };
			expect(found(body)).toEqual({ url: link, authenticated: false, mayNeedKey: true });
		},
	);

	it('percent-encodes half a character in the link to a video, which no request can carry', () => {
		expect(found({ url: 'https://a.example/\ud83d' }).url).toBe('https://a.example/%EF%BF%BD');
	});

	it('takes the target of a redirect as the link', () => {
		const { source, fields } = videoContent(
			answerOf('', { status: 302, location: link, requestId: 'req_1' }),
		);
		expect(source).toEqual({ url: link, authenticated: false, mayNeedKey: true });
		expect(fields).toEqual({ url: link, request_id: 'req_1' });
	});

	it('takes the address itself as the link when it serves the file', () => {
		const { source } = videoContent(answerOf('', { isFile: true }));
		expect(source).toEqual({
			url: 'https://gateway.example/v1/videos/video_1/content',
			authenticated: true,
		});
	});

	it("returns the service's fields unchanged when the link is among them", () => {
		const body = { id: 'video_1', data: { url: link } };
		expect(videoContent(answerOf(body)).fields).toEqual(body);
	});

	it.each<[string, unknown]>([
		['empty', ''],
		['null', null],
		['a link with another protocol', { url: 'ftp://storage.example/v.mp4' }],
		['a link with a line break inside', { url: 'https://a.example/a\nb.mp4' }],
		['a link with a line separator inside', { url: 'https://a.example/a\u2028b.mp4' }],
		['a space in the host', { url: 'https://a .example/b.mp4' }],
	])('finds no link to a video when the response is %s', (_, body) => {
		expect(() => found(body)).toThrow(UnusableResponse);
	});
});
