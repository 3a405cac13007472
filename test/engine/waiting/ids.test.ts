import type { IDataObject } from 'n8n-workflow';
import { runWorkflow, SimulatedTime } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { answer, startServer, type ScriptedServer } from '../../support/http/scriptedServer';
import {
	chain,
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
