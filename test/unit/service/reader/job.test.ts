import {
	createdTask,
	createdVideo,
	jobStatus,
} from '../../../../nodes/shared/service/jobs/responses';
import { jobIdsIn } from '../../../../nodes/shared/service/reader/jobId';
import * as reader from '../../../../nodes/shared/service/reader/videoLink';
import { read } from '../../../../nodes/shared/service/reader/values';
import { words } from '../../../../nodes/shared/service/words';
import { answerOf } from '../../../support/data/answers';
import { mp4Of } from '../../../support/files/boxes';
import { counted } from '../../../support/data/counted';

const pngHead = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const videoLinkIn = (body: unknown) => reader.videoIn(read(body))?.link;

const link = 'https://files.example/a.mp4?Signature=a%2Fb';

type IdRow = [body: object, ofTask: string | undefined, ofVideo: string | undefined];

describe('each name that services use', () => {
	const poll = (body: object) => jobStatus(answerOf(body));

	it.each(words('task_id video_id job_id generation_id prediction_id operation_id render_id'))(
		'gives the ID in %s, and prefers it to that of a request',
		(name) => {
			const job = { deep: { trace_id: 'a', [name]: 'job_1', user_id: 'b', organization_id: 'c' } };
			expect(createdVideo(answerOf(job)).id).toBe('job_1');
			expect(createdTask(answerOf(job)).id).toBe('job_1');
		},
	);

	it.each(
		words(`
			data output outputs result results response resp body task tasks job jobs video videos movie
			generation generations
		`),
	)('takes the id within %s for that of the job', (part) => {
		expect(createdTask(answerOf({ [part]: { id: 'job_1', b_id: 'b' } })).id).toBe('job_1');
	});

	it.each<IdRow>([
		[{ data: { id: 'd1' }, meta: { task_id: 't1' } }, 't1', 'd1'],
		[{ output: { id: 'd1' }, meta: { task_id: 't1' } }, 't1', 'd1'],
		[{ data: { info: { id: 'a1' }, x_id: 'b1' } }, undefined, undefined],
		[{ name: 'a video', a_id: '1', b_id: '2' }, undefined, undefined],
		// The ID itself, or its address, where there is no name for it.
		...['abcdef12', '12x34abc', 'task_abc'].map((id): IdRow => [{ result: id }, id, id]),
		...['see task_123', 'task_123 done', '1920x1080', 'abcdefgh'].map((text): IdRow => [
			{ result: text },
			undefined,
			undefined,
		]),
		[{ poll: ' https://a.example/tasks/task_123?a=b ' }, 'task_123', 'task_123'],
		[{ poll: 'https://a.example/videos/latest' }, undefined, undefined],
		[{ poll: `/${'a/'.repeat(1_500)}tasks/task_123` }, undefined, undefined],
	])('tells the ID of the job from other words: %j', (body, ...ids) => {
		const idOf = (read: typeof createdTask) => {
			try {
				return read(answerOf(body)).id;
			} catch {
				return undefined;
			}
		};
		expect([idOf(createdTask), idOf(createdVideo)]).toEqual(ids);
	});

	it('finds all IDs that may be that of the job', () => {
		const job = { task_id: '1', render_id: 2, name: 'operations/7', note: 'n', x_id: true };
		expect(jobIdsIn(read(job))).toEqual(['1', '2', 'operations/7']);
	});

	it.each(['error', 'usage', 'request', 'input', 'user', 'account', 'steps', 'webhook', 'queue'])(
		'takes the id and the state within %s for something else',
		(part) => {
			const other = { [part]: { id: 'other', status: 'failed' } };
			expect(() => createdTask(answerOf(other))).toThrow('names no job');
			expect(() => poll(other)).toThrow('names no status');
			expect(() => poll({ data: other })).toThrow('names no status');
			expect(poll({ state: 'running', ...other }).phase).toBe('running');
		},
	);

	it.each(['status', 'state', 'task_status', 'job_status', 'video_status', 'task_state'])(
		'gives the state in %s, before a status of the call',
		(name) => {
			const call = { status: 'success', code: 200 };
			expect(poll({ ...call, data: { [name]: 'running' } }).phase).toBe('running');
			expect(poll({ status: 'error', data: { [name]: 'odd' } }).status).toBe('odd');
		},
	);

	it.each([
		[{ data: { status: '200', state: 'odd' } }, 'odd'],
		[{ data: { status: 502, state: 'odd' } }, 'odd'],
		[{ data: { status: '2001', state: 'odd' } }, '2001'],
		[{ data: { status: 'v200', state: 'odd' } }, 'v200'],
		[{ data: { status: 'odd', state: 'running' } }, 'running'],
		[{ status: 'running', data: { state: 'failed' } }, 'running'],
		[{ statuses: { state: 'odd' }, data: { state: 'running-2' } }, 'running-2'],
		[{ substate: { state: 'odd' }, data: { state: 'running-2' } }, 'running-2'],
	])('tells the state of the job from that of the call: %j', (job, status) => {
		expect(poll(job).status).toBe(status);
	});

	it.each([
		'processing video',
		'Rendering (2/3)',
		'upscaling...',
		'in process',
		'RUN',
		'active',
		'WAIT',
		'处理中',
		'排队中',
		'正在生成中…',
		'処理中',
		'생성 중',
	])('does not take a link for the end of a job that goes on: %s', (status) => {
		expect(poll({ task_id: 't', status, result_url: link }).phase).not.toBe('succeeded');
	});

	it.each(['成功', '已完成', '完了', '완료', 'Processed', 'ended', '生成完毕', '失败'])(
		'knows the end of a job by its word, or by its link: %s',
		(status) => {
			const isFailure = status === '失败';
			const file = isFailure ? {} : { result_url: link };
			expect(poll({ task_id: 't', status, ...file }).phase).toBe(
				isFailure ? 'failed' : 'succeeded',
			);
		},
	);

	const error = { code: 'blocked', message: 'Not this' };
	const flagged = (successFlag: number, more: object) => ({
		code: 200,
		msg: 'success',
		data: { taskId: 't', successFlag, ...more },
	});

	it.each<[object, phase: string | undefined]>([
		[{ id: 'a', status: 'moderated', error }, 'failed'],
		[{ id: 'a', status: 'Request Moderated', error: 'No' }, 'failed'],
		[{ id: 'a', status: 'terminated', fail_reason: 'No' }, 'failed'],
		[{ id: 'a', status: 'moderated', error: null }, undefined],
		[{ id: 'a', status: 'pending_moderation', error }, undefined],
		[{ id: 'a', status: 'cancelled, retried', error }, undefined],
		[{ id: 'a', status: 'moderated', error, url: link }, undefined],
		[flagged(2, { errorMessage: 'No luck' }), 'failed'],
		[flagged(1, { response: { resultUrls: ['https://files.example/a'] } }), 'succeeded'],
		[flagged(1, { status: 'odd', url: 'https://files.example/a' }), undefined],
	])('takes only what is sure for the end of the job: %j', (job, phase) => {
		expect(poll(job).phase).toBe(phase);
	});

	it.each([
		flagged(1, { errorMessage: '' }),
		flagged(2, { errorMessage: '' }),
		{ metadata: { done: true } },
		{ finished: 'yes' },
		{ status: true },
	])('takes no flag alone, and no other value, for the end of the job: %j', (job) => {
		expect(() => poll(job)).toThrow('names no status');
	});

	it.each(['paid', 'valid', 'uid', 'webhook_id', 'requestId', 'ModelID', 'callback-id'])(
		'takes no %s for the ID of the job',
		(name) => {
			expect(() => createdVideo(answerOf({ [name]: 'true' }))).toThrow('names no job');
		},
	);

	it.each(['render_id', 'renderId', 'RenderID', 'render-id', 'uuid', 'render_uuid', 'GUID'])(
		'takes the only ID for that of the job: %s',
		(name) => {
			expect(createdVideo(answerOf({ [name]: 'a1', message: 'ok' })).id).toBe('a1');
		},
	);

	it.each(['done', 'is_done', 'completed', 'is_completed', 'finished', 'is_finished'])(
		'gives the end in %s',
		(name) => {
			expect(poll({ [name]: true }).phase).toBe('succeeded');
			expect(poll({ [name]: false }).phase).toBe('running');
			expect(poll({ [name]: true, error: { code: 3 } }).phase).toBe('failed');
		},
	);

	it.each(['progress', 'progress_percent', 'percentage', 'percent'])(
		'gives the percent in %s',
		(name) => {
			expect(poll({ status: 'queued', metadata: { [name]: '40.5%' } }).progress).toBe(40.5);
			expect(poll({ status: 'queued', steps: { [name]: 1 } }).progress).toBeUndefined();
			expect(poll({ status: 'queued', [name]: 'soon' }).progress).toBeUndefined();
		},
	);

	it.each(['result_url', 'video_url', 'url', 'download_url', 'content_url', 'output_url'])(
		'prefers the link in %s to one under another name',
		(name) => {
			const other = 'https://files.example/b';
			expect(videoLinkIn({ file: other, [name]: link })).toBe(link);
			expect(videoLinkIn({ page: other, file: link })).toBe(link);
		},
	);

	it.each(
		words(`
			thumbnail cover poster image preview frame callback webhook audio voice input prompt status poll
			cancel self doc
		`),
	)('takes no link in %s for that of the video', (name) => {
		const others = { [`${name}_url`]: link, [name]: { url: link } };
		expect(videoLinkIn(others)).toBeUndefined();
	});
});

describe('the link to the video', () => {
	const other = 'https://files.example/b.mp4';
	const page = 'https://files.example/a';

	it.each<[what: string, body: unknown, link: string | undefined]>([
		['and not one that was sent', { data: { reference_url: other, x: link } }, link],
		['and no first frame', { files: [{ type: 'firstframe', url: other }, { url: link }] }, link],
		['and no first_frame', { files: [{ kind: 'First_Frame', url: other }, { url: link }] }, link],
		['with a sound', { files: [{ type: 'video_with_audio', url: link }, { url: other }] }, link],
		['and no sentence', { page_url: `${page} is late`, file: link }, link],
		['and no sentence elsewhere', { note: `${page} is late` }, undefined],
		['that is the whole answer', `${page} b.mp4`, `${page}%20b.mp4`],
		['and no words about data', { file: 'no data:video/mp4;base64,AAAA' }, undefined],
		['and no address of the job', { url: 'https://a.example/v1/tasks/t', output: page }, page],
		['and no playlist', { m3u8_url: `${page}.m3u8`, mp4_url: link }, link],
		['as data', { file: ' data:video/mp4;base64,AAAA ' }, 'data:video/mp4;base64,AAAA'],
	])('is the one %s', (_, body, found) => {
		expect(videoLinkIn(body)).toBe(found);
	});

	it.each<[body: unknown, link: string | undefined]>([
		[{ message: `Your video: "${link}".` }, link],
		[{ url: `‹${link}›` }, link],
		[{ content: `![The video](${page})` }, page],
		[`Download it here: ${link}!`, link],
		[{ note: `完成：${link}。` }, link],
		[{ note: `${link} or ${other}` }, undefined],
		[{ error: `see ${link}` }, undefined],
	])(
		'is the only one to a video file within a text, where there is no other: %j',
		(body, found) => {
			expect(videoLinkIn(body)).toBe(found);
			const read = jobStatus(answerOf({ task_id: 't', status: 'shown', note: `At ${link} soon.` }));
			expect(read.phase).toBeUndefined();
		},
	);

	it.each([
		[{ url: link }, true],
		[{ url: `${page}?b.mp4` }, false],
		[{ url: `${page}?data:` }, false],
		[{ url: link, error: 'No luck' }, false],
	])('tells whether it surely leads to a video: %j', (body, isFile) => {
		expect(reader.videoIn(read(body))?.isFile).toBe(isFile);
	});
});

describe('several videos', () => {
	const other = 'https://files.example/b.mp4';

	it.each<[object, number]>([
		[{ url: link, data: { urls: [link, other, 'https://files.example/c.webm'] } }, 3],
		[{ url: link, data: { urls: [other, other] } }, 1],
		[{ output: [link, 'https://files.example/a.png', 'https://files.example/page'] }, 1],
	])('are counted where they are in one list: %j', (body, count) => {
		expect(reader.countVideos(read(body), link)).toBe(count);
	});
});

describe('a video as base64', () => {
	const base64 = mp4Of(3_000).toString('base64');
	const png = Buffer.concat([pngHead, Buffer.alloc(300)]).toString('base64');

	const inLines = base64.replace(/.{76}(?=.)/g, '$&\r\n');
	const ofType = (type: string) => `data:${type};base64,${base64}`;

	it.each<[string, file: string, found?: string]>([
		['a video in lines', inLines, `data:video/mp4;base64,${inLines}`],
		['a video of another type', ofType('application/mp4'), ofType('application/mp4')],
		['an image as a data URL', `data:image/png;base64,${png}`, undefined],
	])('is known by its beginning: %s', (_, b64, found) => {
		expect(videoLinkIn({ b64 })).toBe(found);
	});
});

it('looks for a link among a bounded number of values', () => {
	const group = () => Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, {}]));
	const groups = Object.fromEntries(
		Array.from({ length: 1_000 }, (_, index) => [`g${index}`, group()]),
	);
	const { value, seen } = counted({ status: 'in_progress', groups });
	expect(videoLinkIn(value)).toBeUndefined();
	expect(seen.objects).toBeLessThan(2_500);
});
