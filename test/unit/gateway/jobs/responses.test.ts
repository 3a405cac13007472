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
import { modelList } from '../../../../nodes/shared/gateway/models/list';
import type { Phase } from '../../../../nodes/shared/gateway/protocol/jobs';
import { answerOf } from '../../../support/data/answers';
import { fc } from '../../../support/data/fuzz';

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

	it.each<[string, object]>([
		['at the top level', { task_id: 'task_1' }],
		['within data', { data: { task_id: 'task_1' } }],
		['within the output of data', { data: { output: { task_id: 'task_1' } } }],
		['under the name id', { id: 'task_1' }],
		['with spaces around it', { output: { task_id: ' task_1 ' } }],
		['beside an empty one', { output: { task_id: '' }, task_id: 'task_1' }],
	])('finds the task ID %s', (_, body) => {
		expect(createdTask(answerOf(body)).id).toBe('task_1');
	});

	it('accepts a number as the task ID', () => {
		expect(createdTask(answerOf({ output: { task_id: 12345 } })).id).toBe('12345');
	});

	it('puts the task ID where the next node looks for it', () => {
		const { fields } = createdTask(answerOf({ data: { task_id: 'task_1' }, code: 0 }));
		expect(fields).toEqual({ task_id: 'task_1', data: { task_id: 'task_1' }, code: 0 });
	});

	it('adds the request ID of the header when the body has none', () => {
		const { output } = specified;
		const { fields } = createdTask(answerOf({ output }, { requestId: 'head_1' }));
		expect(fields).toEqual({ output, request_id: 'head_1' });
	});

	it.each([null, '', ' ', {}, false])(
		'adds the request ID of the header when the body says %j',
		(request_id) => {
			const { output } = specified;
			const { fields } = createdTask(answerOf({ output, request_id }, { requestId: 'head_1' }));
			expect(fields).toEqual({ output, request_id: 'head_1' });
		},
	);

	it('keeps the request ID of the body, and adds that of the header beside it', () => {
		const head = { headers: { 'x-request-id': 'head_1' }, requestId: 'head_1' };
		const { fields } = createdTask(answerOf(specified, head));
		expect(fields).toEqual({ ...specified, http_request_id: 'head_1' });
	});

	it('keeps one request ID when header and body name the same', () => {
		const head = { headers: { 'x-request-id': 'req_1' }, requestId: 'req_1' };
		expect(createdTask(answerOf(specified, head)).fields).toEqual(specified);
	});

	it('replaces an empty task ID where the next node looks for it', () => {
		const { fields } = createdTask(answerOf({ task_id: '', id: 'task_1' }));
		expect(fields).toEqual({ task_id: 'task_1', id: 'task_1' });
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

	it('keeps every digit of a numeric task ID when the response breaks off after it', () => {
		const text = '{"output":{"task_id": 1876543210987654321, "task_status":"PEN';
		expect(createdTask(cutAfter(text)).id).toBe('1876543210987654321');
	});

	it.each<[string, ServiceResponse]>([
		['breaks off within a number', cutAfter('{"output":{"task_id":18765432109')],
		['breaks off within the ID', cutAfter('{"output":{"task_id":"task_')],
		['is empty', answerOf('')],
		['is a page', answerOf('<html></html>')],
		['is a list', answerOf(['task_1'])],
		['is null', answerOf(null)],
		['names no job', answerOf({ output: {}, request_id: 'req_1' })],
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

	it('removes only empty task IDs from a created video', () => {
		const body = { task_id: null, output: { task_id: '' }, status: 'queued', id: 'video_1' };
		const { fields } = createdVideo(answerOf(body));
		expect(fields).toEqual({ output: {}, status: 'queued', id: 'video_1' });
	});

	it('keeps the video ID when the response breaks off after it', () => {
		expect(createdVideo(cutAfter('{"id":"video_1","status":'))).toEqual({
			id: 'video_1',
			fields: { id: 'video_1' },
		});
	});

	it('takes no video ID from the script of a web page', () => {
		const page = '<!doctype html><html><script>window.app = {"id":"root"}</script></html>';
		expect(() => createdVideo(answerOf(page))).toThrow(UnusableResponse);
	});
});

describe('polled jobs', () => {
	it('reads a status in the form of the task endpoint', () => {
		const body = { task_id: 'task_1', status: 'in_progress', progress: 30 };
		expect(jobStatus(answerOf(body, { requestId: 'req_1' }))).toEqual({
			status: 'in_progress',
			phase: 'running',
			progress: 30,
			fields: { ...body, request_id: 'req_1' },
		});
	});

	it('reads the link of a completed job', () => {
		const result_url = "https://storage.example/v.mp4?Signature=a%2Fb+c=&X='(1)";
		const body = { task_id: 'task_1', status: 'completed', progress: 100, result_url };
		expect(jobStatus(answerOf(body))).toMatchObject({ phase: 'succeeded', link: result_url });
	});

	it.each<[unknown, Phase | undefined]>([
		['submitted', 'queued'],
		['PENDING', 'queued'],
		['queued', 'queued'],
		['RUNNING', 'running'],
		['processing', 'running'],
		['SUCCEEDED', 'succeeded'],
		['COMPLETED', 'succeeded'],
		[' Completed ', 'succeeded'],
		['FAILED', 'failed'],
		['UNKNOWN', undefined],
		['CANCELED', 'failed'],
		['succeed', 'succeeded'],
		['rendering_pass_2', undefined],
		['constructor', undefined],
		[2, undefined],
	])('reads the state %j', (status, phase) => {
		expect(jobStatus(answerOf({ status })).phase).toBe(phase);
	});

	it.each<[string, object]>([
		['in the native form', { output: { task_id: 'task_1', task_status: 'RUNNING' } }],
		['in the native form at the top level', { task_status: 'RUNNING' }],
		['within output', { output: { status: 'processing' } }],
		['within data', { code: 0, data: { status: 'in_progress' } }],
		['under the name state', { state: 'processing' }],
		['beside an empty one', { status: '', task_status: 'RUNNING' }],
		['beside one that is no text', { status: true, data: { status: 'processing' } }],
	])('finds the state %s', (_, body) => {
		expect(jobStatus(answerOf(body)).phase).toBe('running');
	});

	it.each<[string, object, Phase | undefined]>([
		[
			'success, and running within data',
			{ status: 'success', data: { status: 'processing' } },
			'running',
		],
		[
			'success, and running in the native form',
			{ status: 'SUCCESS', output: { task_status: 'RUNNING' } },
			'running',
		],
		[
			'success, and running in the native form within data',
			{ status: 'success', data: { output: { task_status: 'RUNNING' } } },
			'running',
		],
		[
			'success, and failed within data',
			{ status: 'success', data: { status: 'FAILURE' } },
			'failed',
		],
		['success, and an unknown word', { status: 'success', data: { status: 'pass_2' } }, undefined],
		['success, and running as state', { status: 'success', state: 'processing' }, 'running'],
		['success, and running as task_status', { status: 'ok', task_status: 'submitted' }, 'queued'],
		['success, and running in result', { status: 'done', result: { state: 'queued' } }, 'queued'],
		[
			'an error, and running within data',
			{ status: 'error', data: { status: 'queued' } },
			'queued',
		],
		['200, and running within data', { status: 200, data: { task_status: 'RUNNING' } }, 'running'],
		['200, and finished within data', { status: '200', data: { status: 'succeed' } }, 'succeeded'],
		['true, and running within data', { success: true, data: { status: 'queued' } }, 'queued'],
		[
			'success as code, and running within data',
			{ code: 'success', message: '', data: { status: 'IN_PROGRESS', progress: '30%' } },
			'running',
		],
		['success only', { code: 200, status: 'success' }, 'succeeded'],
		[
			'success beside the status of its file',
			{ status: 'success', data: { status: 200 } },
			'succeeded',
		],
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
		['200 only, which is no status of a job', { status: 200, url: 'https://a.b/c' }, undefined],
	])('tells the status of the job from that of the call: %s', (_, body, phase) => {
		expect(jobStatus(answerOf(body)).phase).toBe(phase);
	});

	it.each<[unknown, number | undefined]>([
		[0, 0],
		[30, 30],
		['30', 30],
		['30%', 30],
		[' 30 % ', 30],
		[99.5, 99.5],
		['soon', undefined],
		['', undefined],
		[null, undefined],
		[{ percent: 30 }, undefined],
	])('reads the progress %j', (progress, expected) => {
		expect(jobStatus(answerOf({ status: 'in_progress', progress })).progress).toBe(expected);
	});

	it.each(['output', 'data'])('finds the progress within %s', (name) => {
		const body = { status: 'processing', [name]: { progress: 40 } };
		expect(jobStatus(answerOf(body)).progress).toBe(40);
	});

	it.each<[string, object, object]>([
		['an object', { error: { code: 'a_code', message: 'no' } }, { code: 'a_code', message: 'no' }],
		['a text', { error: 'no' }, { message: 'no' }],
		[
			'native fields',
			{ output: { code: 'a_code', message: 'no' } },
			{ code: 'a_code', message: 'no' },
		],
		['none without a field', {}, {}],
	])('reads the reason of a failed job: %s', (_, fields, failure) => {
		expect(jobStatus(answerOf({ status: 'failed', ...fields })).failure).toEqual(failure);
	});

	it('reports no failure unless the job failed', () => {
		const status = jobStatus(answerOf({ status: 'completed', error: { message: 'old' } }));
		expect(status).not.toHaveProperty('failure');
	});

	it.each<[string, ServiceResponse]>([
		['is empty', answerOf('')],
		['is a list', answerOf([{ status: 'completed' }])],
		['is a page', answerOf('<html></html>')],
		['breaks off', cutAfter('{"status":"completed",')],
		['names no status', answerOf({ id: 'video_1' })],
		['has an object as the status', answerOf({ status: { name: 'completed' } })],
	])('refuses the response to a poll that %s', (_, response) => {
		expect(() => jobStatus(response)).toThrow(UnusableResponse);
	});
});

describe('the link to a video', () => {
	const link = 'https://storage.example/v.mp4?X-Sig=a%2Fb%20c';
	const other = 'https://elsewhere.example/x';
	const found = (body: unknown) => videoContent(answerOf(body)).source;

	it.each<[string, unknown]>([
		['as url', { url: link }],
		['as result_url', { result_url: link }],
		['as video_url', { video_url: link }],
		['as download_url', { download_url: link }],
		['under an unknown name', { signed_file_link: link }],
		['under the name fileUri', { fileUri: link }],
		['within data', { data: { url: link } }],
		['within a list', { data: [{ url: link }] }],
		['in a list of texts', { output: [link] }],
		['deeply nested', { data: { result: { videos: [{ url: link }] } } }],
		['as JSON text', JSON.stringify(link)],
		['as plain text', link],
		['as plain text on a line of its own', `${link}\n`],
		['beside its thumbnail', { thumbnail_url: other, data: { url: link } }],
		['beside its cover', { cover: { url: other }, video: { url: link } }],
		['beside its input image', { input: { image: { url: other } }, result: { url: link } }],
		['beside a callback address', { callback_url: other, output: { video_url: link } }],
		['beside a more deeply nested link', { url: link, data: { url: other } }],
		['beside an empty link', { url: '', video_url: link }],
		...['data', 'video', 'content', 'output', 'result', 'file', 'src', 'href', 'note'].map(
			(name): [string, unknown] => [`as ${name}`, { id: 'video_1', [name]: link }],
		),
		['deeply nested under a name that says nothing', { data: { list: [{ place: link }] } }],
		['beside the address of the status', { status_url: other, data: { url: link } }],
		['beside addresses of the job', { urls: { get: other, cancel: other }, output: [link] }],
		['beside the address of the response', { links: { self: { href: other } }, data: link }],
		['under a well-known name, beside others', { page_url: other, data: { url: link } }],
		['under a likely name, beside others', { note: other, data: { signed_link: link } }],
	])('finds the link to a video %s', (_, body) => {
		expect(found(body)).toEqual({ url: link, authenticated: false, mayNeedKey: true });
	});

	it('keeps the link to a video byte for byte', () => {
		const unusual = "https://bücher.example/a%20b/%c3%bc?x='1'&y=%7e&z=A%2fb+|^\"<`{\\[%#/../x";
		expect(found({ url: unusual }).url).toBe(unusual);
	});

	it.each<[string, unknown, string]>([
		[
			'a space',
			{ result_url: 'https://a.example/a b  c.mp4?x=%2f 1' },
			'/a%20b%20%20c.mp4?x=%2f%201',
		],
		['other letters', { url: 'https://a.example/视频1é.mp4' }, '/%E8%A7%86%E9%A2%911%C3%A9.mp4'],
		[
			'other letters and a space',
			{ data: [{ video: 'https://a.example/ü 😀' }] },
			'/%C3%BC%20%F0%9F%98%80',
		],
		['a wide space', { output: { video_url: 'https://a.example/a\u3000b' } }, '/a%E3%80%80b'],
		['half a character', { url: 'https://a.example/\ud83d' }, '/%EF%BF%BD'],
		['a space as plain text', 'https://a.example/a b.mp4\n', '/a%20b.mp4'],
		[
			'a space, and no file beside it',
			{ result_url: 'https://a.example/a b.mp4', page_link: 'https://b.example/' },
			'/a%20b.mp4',
		],
	])('percent-encodes in the link to a video what no request can carry: %s', (_, body, path) => {
		expect(found(body).url).toBe(`https://a.example${path}`);
	});

	it('prefers a link to a sentence that begins with one', () => {
		const content = 'https://docs.example tells more';
		expect(found({ content, data: { file: link } }).url).toBe(link);
	});

	it('percent-encodes a space in a relative link', () => {
		expect(found({ url: '/files/a b.mp4' }).url).toBe('https://gateway.example/files/a%20b.mp4');
	});

	it('resolves a relative link against the address that responded', () => {
		expect(found({ url: '/files/v.mp4?sig=1' }).url).toBe(
			'https://gateway.example/files/v.mp4?sig=1',
		);
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
		['a page', '<html><a href="https://storage.example/v.mp4">video</a></html>'],
		['null', null],
		['a number', 7],
		['without a link', { id: 'video_1', status: 'completed' }],
		['a link with another protocol', { url: 'ftp://storage.example/v.mp4' }],
		['half a link', { url: 'https://' }],
		['a link with a line break inside', { url: 'https://a.example/a\nb.mp4' }],
		['a link with a tab inside', { url: 'https://a.example/a\tb.mp4' }],
		['a link with a NUL inside', { url: 'https://a.example/a\0b.mp4' }],
		['a link with another control character', { url: 'https://a.example/a\x85b.mp4' }],
		['a link with a line separator inside', { url: 'https://a.example/a\u2028b.mp4' }],
		['a relative link with a line break inside', { url: '/files/a\nb.mp4' }],
		['a space in the host', { url: 'https://a .example/b.mp4' }],
		['two links in one text', { url: 'https://a.example/1.mp4 https://a.example/2.mp4' }],
		['a sentence that begins with a link', { note: 'https://a.example tells more' }],
		['only the link to a thumbnail', { thumbnail_url: link }],
		['a text that has a link in it', { note: `see ${link}` }],
		['only the address of the status', { status_url: link, links: { self: link } }],
	])('finds no link to a video when the response is %s', (_, body) => {
		expect(() => found(body)).toThrow(UnusableResponse);
	});
});

describe('random responses', () => {
	const parsers = { createdTask, createdVideo, jobStatus, videoContent, modelList };
	const names = fc.constantFrom(
		...['output', 'data', 'task_id', 'id', 'status', 'task_status', 'progress', 'result_url'],
		...['url', 'error', 'code', 'message', 'models', 'request_id', '__proto__', 'toString'],
	);
	const leaves = fc.oneof(
		fc.constantFrom(null, true, 0, -1.5, 1e308, '', ' ', '30%', 'completed', 'failed', 'FAILED'),
		fc.constantFrom('/a', '//a', 'https://a.example/v.mp4', 'https://', 'http://[', '/\\'),
		fc.string(),
	);
	const { json } = fc.letrec<{ json: unknown; object: unknown; array: unknown }>((tie) => ({
		json: fc.oneof({ maxDepth: 5, withCrossShrink: true }, leaves, tie('object'), tie('array')),
		object: fc.dictionary(names, tie('json'), { maxKeys: 5 }),
		array: fc.array(tie('json'), { maxLength: 3 }),
	}));
	const texts = fc.oneof(
		{ weight: 3, arbitrary: json.map((value) => JSON.stringify(value)) },
		fc.string(),
		json.chain((value) => {
			const text = JSON.stringify(value);
			return fc.nat(text.length).map((length) => text.slice(0, length));
		}),
	);
	const parts = fc.record(
		{
			requestId: fc.string({ minLength: 1 }),
			broken: fc.constant('aborted'),
			isFile: fc.boolean(),
			location: fc.constant('https://a.example/v.mp4'),
		},
		{ requiredKeys: [] },
	);

	it.each(Object.entries(parsers))(
		'returns a result or throws UnusableResponse for any response: %s',
		(_, parse) => {
			fc.assert(
				fc.property(texts, parts, (text, rest) => {
					try {
						expect(parse(answerOf(text, rest))).toBeDefined();
					} catch (error) {
						expect(error).toBeInstanceOf(UnusableResponse);
					}
				}),
				{ numRuns: 500 },
			);
		},
	);

	it('never reads an infinite progress, an empty status or a broken link', () => {
		fc.assert(
			fc.property(texts, (text) => {
				try {
					const { status, progress = 0, link = 'https://a.example' } = jobStatus(answerOf(text));
					expect(status).not.toBe('');
					expect(Number.isFinite(progress)).toBe(true);
					expect(URL.canParse(link)).toBe(true);
				} catch (error) {
					expect(error).toBeInstanceOf(UnusableResponse);
				}
			}),
			{ numRuns: 500 },
		);
	});
});
