import type { IDataObject } from 'n8n-workflow';
import { runWorkflow, SimulatedTime } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { answer, startServer, type ScriptedServer } from '../../support/http/scriptedServer';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';

/** IDs that a URL or a program could misread. The service must receive each of them, trimmed. */
const odd = [
	...['../models', '..%2fmodels', '%2e%2e%2f', '%2e%2e', '%2E', '.%2e', '../../v1/models'],
	...['a/b', '/', '//a.example/x', 'a?b=c', '?', '#', 'a#b', 'a b', 'a\nb', 'a\r\nHost: b', 'a\tb'],
	...[
		'\0',
		'a\0b',
		'\\',
		'..\\',
		'C:\\x',
		'é',
		'🎬',
		'任务',
		'...',
		'a..',
		'x;y',
		'&',
		'=',
		'{id}',
		'$&',
	],
	...['http://a.example/', '%', '%zz', '%00', '__proto__', 'constructor', '\u202e', '\ufeffa'],
];
const refused = ['.', '..', ' .. ', 'x'.repeat(10_000), 'a\ud800', '\udc00'];

const bodies = {
	task: { status: 'completed', result_url: '/file' },
	video: { status: 'completed' },
	content: { url: '/file' },
};

describe('unusual job IDs', () => {
	let server: ScriptedServer;
	let time: SimulatedTime;
	beforeEach(async () => {
		time = new SimulatedTime();
		server = await startServer((response, request) => {
			const { path } = request;
			const id = decodeURIComponent(path.split('/')[3] ?? '');
			const body = path.startsWith('/v1/tasks/')
				? { ...bodies.task, task_id: id }
				: path.endsWith('/content')
					? bodies.content
					: { ...bodies.video, id };
			const file = answer(200, mp4Of(100), { 'content-type': 'video/mp4' });
			const reply = path === '/file' ? file : answer(200, JSON.stringify(body));
			reply(response, request);
		});
	});
	afterEach(async () => await time.end());

	const node = (kind: string, operation: string, name: string) =>
		modelGateway({ resource: kind, operation, [name]: '={{ $json.given }}' });
	const nodes = [
		['referenceVideo get', node('referenceVideo', 'get', 'taskId'), ['/v1/tasks/', '']],
		['video get', node('video', 'get', 'videoId'), ['/v1/videos/', '']],
		['video getContent', node('video', 'getContent', 'videoId'), ['/v1/videos/', '/content']],
		['Wait for Video', waitForVideo({ jobId: '={{ $json.given }}' }), ['/v1/tasks/', '']],
	] as const;

	const run = async (subject: Node, ids: string[]) =>
		await runWorkflow(chain({ ...subject, onError: 'continueRegularOutput' }), {
			credentials: credentialFor({ url: server.url, apiKey: 'demo-key' }),
			input: ids.map((given) => ({ json: { given } as IDataObject })),
		});

	it.each(nodes)(
		'sends any job ID as one segment of the path, and makes a safe file name of it: %s',
		async (_, subject, ends) => {
			const [before, after] = ends;
			const result = await run(subject, odd);
			const paths = server.requests.map(({ path }) => path).filter((path) => path !== '/file');
			expect(new Set(paths).size).toBe(odd.length);
			const seen = paths.map((path) => {
				// A server resolves dots in the path.
				expect(new URL(path, server.url).pathname).toBe(path);
				expect(path.startsWith(before) && path.endsWith(after)).toBe(true);
				const part = path.slice(before.length, path.length - after.length);
				expect(part).not.toContain('/');
				return decodeURIComponent(part);
			});
			expect(seen.sort()).toEqual(odd.map((id) => id.trim()).sort());
			for (const { json, binary } of result.items(subject.name)) {
				expect(json.error).toBeUndefined();
				if (subject.name !== 'Wait for Video' && !ends[1]) continue;
				const { fileName = '' } = binary?.data ?? {};
				expect(fileName).toMatch(/^[^/\\:?*"<>|\0-\x1f.][^/\\:?*"<>|\0-\x1f]*\.mp4$/);
			}
		},
	);

	it.each(nodes)(
		'refuses an impossible job ID before it sends anything: %s',
		async (_, subject) => {
			const items = (await run(subject, refused)).items(subject.name);
			expect(items).toHaveLength(refused.length);
			for (const { json } of items) {
				expect(json.error).toMatch(
					/^(Task|Video|Job) ID is not the ID of a job \(it is ".{1,40}"\)$/,
				);
			}
			expect(server.requests).toEqual([]);
		},
	);
});

describe('large numeric job IDs', () => {
	let time: SimulatedTime;
	beforeEach(() => void (time = new SimulatedTime()));
	afterEach(async () => await time.end());

	it.each([
		['task', '1876543210987654321'],
		['task', '-9007199254740993'],
		['video', '123456789012345678901234567890'],
	])('keeps all digits of a numeric ID from the create to the file: %s %s', async (kind, id) => {
		const isTask = kind === 'task';
		const path = isTask ? `/v1/tasks/${id}` : `/v1/videos/${id}`;
		const server = await startServer((response, request) => {
			const isFile = request.path === '/file';
			const name = isTask ? '"task_id"' : '"id"';
			// JSON.stringify would round the ID.
			const created = isTask ? `{"output":{${name}:${id}}}` : `{${name}:${id},"status":"queued"}`;
			const polled = `{${name}:${id},"status":"completed","seed":0.12345678901234567,"url":"/file","result_url":"/file"}`;
			const body = request.method === 'POST' ? created : polled;
			const file = answer(200, mp4Of(100), { 'content-type': 'video/mp4' });
			if (!isFile && request.method === 'GET' && !request.path.startsWith(path)) {
				return answer(404, '{}')(response, request);
			}
			return (isFile ? file : answer(200, body))(response, request);
		});
		const create = isTask
			? createReferenceVideo({
					mediaJson: '[{"type":"reference_image","url":"https://a.example/a.png"}]',
				})
			: modelGateway(
					{ resource: 'video', operation: 'create', model: byId('vid-3.1'), prompt: 'Waves' },
					{ name: 'Create' },
				);
		const result = await runWorkflow(chain(create, waitForVideo()), {
			credentials: credentialFor({ url: server.url, apiKey: 'demo-key' }),
		});
		expect(result.items('Wait for Video')).toMatchObject([
			{ json: { job_id: id }, binary: { data: { mimeType: 'video/mp4' } } },
		]);
		if (isTask) expect(result.items('Wait for Video')[0].json.seed).toBe(0.12345678901234567);
	});
});
