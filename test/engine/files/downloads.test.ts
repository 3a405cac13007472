import { gzipSync } from 'node:zlib';
import type { JobKind } from '../../../nodes/shared/gateway/protocol/jobs';
import { startGateway, type FaultAction, type Gateway, type Route } from '../../../gateway';
import {
	resumeToEnd,
	retryExecution,
	runWorkflow,
	SimulatedTime,
	storedFiles,
	withoutStore,
	type WorkflowRun,
} from '../../harness';
import { box, mp4Of } from '../../support/files/boxes';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { otherVideos } from '../../support/data/otherVideos';
import {
	answer,
	breakOff,
	cut,
	json,
	redirect,
	startServer,
	type Reply,
} from '../../support/http/scriptedServer';
import { storage, type StorageOptions } from '../../support/http/scriptedStorage';
import { sampleVideo } from '../../support/data/samples';
import {
	chain,
	credentialFor,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';
import { sha256 } from '../../support/data/sha256';

interface Way {
	kind: JobKind;
	/** The call that returns the link of the file. */
	linkFrom: Route;
	node: Node;
}

const ways: Record<string, Way> = {
	'Wait for Video (task)': { kind: 'task', linkFrom: 'task', node: waitForVideo() },
	'Wait for Video (video job)': {
		...{ kind: 'video', linkFrom: 'videoContent', node: waitForVideo() },
	},
	'Video: Get Content': {
		...{ kind: 'video', linkFrom: 'videoContent' },
		node: modelGateway(
			{ resource: 'video', operation: 'getContent', videoId: '={{ $json.id }}' },
			{ name: 'Wait for Video' },
		),
	},
};
const modes = ['filesystem', 'default'] as const;
type Mode = (typeof modes)[number];

let video: Uint8Array;
let time: SimulatedTime;
let gateway: Gateway;

/** Shorter than the idle timeout of a download. */
const linkSeconds = 30;

beforeAll(async () => void (video = await sampleVideo()));
beforeEach(async () => {
	time = new SimulatedTime();
	gateway = await startGateway({ linkSeconds });
});
afterEach(async () => {
	await gateway.close();
	await time.end();
});

const onStorage = () => gateway.requests.filter(({ host }) => host === 'storage');
const at = (tenth: number) => Math.floor((video.length * tenth) / 10);
const tenths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

describe.each(Object.entries(ways))('%s', (_, { kind, linkFrom, node }) => {
	let id: string;

	beforeEach(() => {
		({ id } = earlierJob(gateway, kind, video));
	});

	const run = async (binaryDataMode: Mode = 'filesystem', settings = {}) =>
		await runWorkflow(chain({ ...node, ...settings }), {
			credentials: credentialFor(gateway),
			input: [{ json: kind === 'task' ? { task_id: id } : { id } }],
			binaryDataMode,
		});
	const breakDownloads = (...faults: FaultAction[]) => {
		for (const fault of faults) gateway.fault({ ...fault, route: 'download' });
	};
	/** Replaces the service's storage host, for behaviour that the embedded one lacks. */
	const serve = async (...replies: Reply[]) => {
		const server = await startServer(...replies);
		const url = `${server.url}/v.mp4?sig=a%2Fb`;
		const status = { task_id: id, status: 'completed', progress: 100, result_url: url };
		const body = JSON.stringify(kind === 'task' ? status : { url });
		gateway.fault({ route: linkFrom, action: 'answer', times: Infinity, body });
		return server;
	};
	const checkFile = async (result: WorkflowRun, file = video) => {
		const [item] = result.items('Wait for Video');
		expect(sha256(await result.binary(item))).toBe(sha256(file));
		expect(item.binary?.data).toMatchObject({ mimeType: 'video/mp4', fileName: `${id}.mp4` });
	};

	describe('downloads that break off', () => {
		it.each(modes)(
			'resumes a download that breaks off at every tenth each time (%s)',
			async (mode) => {
				breakDownloads(
					...tenths.map((tenth) => ({ action: 'cut' as const, after: at(tenth + 1) - at(tenth) })),
				);
				const result = await run(mode);
				await checkFile(result);
				// There is no request beyond the end of the file.
				expect(onStorage().map(({ headers }) => headers.range)).toEqual([
					undefined,
					...tenths.slice(1).map((tenth) => `bytes=${at(tenth)}-`),
				]);
			},
		);
	});

	const whole = (options?: StorageOptions) => storage(video, options);
	const half = (options?: StorageOptions) => storage(video, { until: at(5), ...options });
	/** Bytes under headers that are not true. */
	const sendUnder = (headers: Record<string, string | number>, bytes = video): Reply => {
		return (response) => {
			response.writeHead(200, { etag: '"v1"', ...headers });
			response.write(bytes, () => breakOff(response));
		};
	};
	const part = (headers: Record<string, string>, status = 206) =>
		answer(status, status === 206 ? video.subarray(at(5)) : '', headers);
	const compressed = gzipSync;

	it.each<[string, () => Reply[], number]>([
		['does not support ranges', () => [half({ ranges: false }), whole({ ranges: false })], 3],
		['gives the type text/plain', () => [whole({ headers: { 'content-type': 'text/plain' } })], 1],
		[
			'announces too large a length',
			() => [sendUnder({ 'content-length': video.length + 100 }), whole()],
			2,
		],
		[
			'announces no length, and breaks off',
			() => [sendUnder({}, video.subarray(0, at(5))), whole()],
			2,
		],
		[
			'rejects the range and reports the half as the whole file',
			() => [half(), part({ 'content-range': `bytes */${at(5)}` }, 416), whole()],
			3,
		],
		[
			'compresses the file, and breaks off',
			() => [cut(compressed(video).subarray(0, at(5)), { 'content-encoding': 'gzip' }), whole()],
			2,
		],
	])('downloads the whole file from a storage host that %s', async (storage, replies, requests) => {
		// The simulated time does not see the threads that decompress.
		if (storage.startsWith('compresses')) time.patience = 200;
		const server = await serve(...replies());
		const result = await run();
		await checkFile(result);
		expect(server.requests.map(({ method }) => method)).toEqual(Array(requests).fill('GET'));
		for (const { headers } of server.requests) expect(headers).not.toHaveProperty('authorization');
		expect(await storedFiles(result)).toHaveLength(2);
	});

	it.each([
		...(['WebM', 'QuickTime', 'AVI'] as const).map((kind) => [kind, 'filesystem'] as const),
		['WebM', 'default'],
	] as const)(
		'delivers a %s video under its own type, and shows a hint (%s)',
		async (kind, mode) => {
			const { bytes, mimeType, extension } = otherVideos[kind];
			await serve(storage(bytes, { until: 40_000 }), storage(bytes));
			const result = await run(mode);
			const [item] = result.items('Wait for Video');
			expect(sha256(await result.binary(item))).toBe(sha256(bytes));
			const fileName = `${id}.${extension}`;
			expect(item.binary?.data).toMatchObject({ mimeType, fileName, fileExtension: extension });
			expect(result.hintsOf('Wait for Video')).toEqual([
				`${fileName} is a${kind === 'AVI' ? 'n' : ''} ${kind} video, not an mp4.`,
			]);
		},
	);

	it.each<[string, Buffer, string]>([
		['heic', box('ftyp', Buffer.from('heic\0\0\0\0mif1heic')), 'is a HEIC image, not an mp4.'],
		['m4a', box('ftyp', Buffer.from('M4A \0\0\0\0')), 'is an M4A sound, not an mp4.'],
		['bin', Buffer.alloc(1000, 3), 'is a file of an unknown kind, not an mp4.'],
		[
			'mp4',
			Buffer.concat([box('ftyp', Buffer.from('isom')), box('mdat', Buffer.alloc(99))]),
			'has no index (moov): it arrived as the service made it, but players cannot open it.',
		],
	])(
		'delivers as .%s what is charged but is no video that plays, and shows a hint',
		async (extension, bytes, hint) => {
			await serve(storage(bytes));
			const result = await run();
			const [item] = result.items('Wait for Video');
			expect(sha256(await result.binary(item))).toBe(sha256(bytes));
			expect(result.hintsOf('Wait for Video')).toEqual([`${id}.${extension} ${hint}`]);
		},
	);

	it('reports that n8n could not store the video, and downloads it in a Retry', async () => {
		const failed = await withoutStore(async () => await run());
		const error = failed.errorOf('Wait for Video');
		expect(error?.message).toContain(`${id}: n8n could not store it: E`);
		expect(error?.description).toContain("Check n8n's binary data storage");
		expect(error?.description).toContain('The video is finished and charged');
		expect(error?.description).not.toContain('Nothing was sent');
		await checkFile(await resumeToEnd(await retryExecution(failed)));
	});

	it.each(modes)(
		'fails after five requests to a storage host that always breaks off, and stores no file (%s)',
		async (mode) => {
			const server = await serve(half());
			const settings = { onError: 'continueErrorOutput' } as const;
			const result = await run(mode, settings);
			expect(result.items('Wait for Video')).toEqual([]);
			const [{ json, binary }] = result.items('Wait for Video', { output: 1 });
			expect(json.error).toMatch(new RegExp(`^Could not download the video .*${id}: `));
			expect(json.details).toMatchObject({
				...{ billed: 'yes', retry_can_help: true, job: { id } },
				advice: expect.stringMatching(/finished and charged.* Collect it by its ID/),
			});
			expect(binary).toBeUndefined();
			expect(server.requests).toHaveLength(5);
			expect(await storedFiles(result)).toEqual([]);

			const stopped = await run(mode);
			expect(stopped.errorOf('Wait for Video')?.message).toContain(id);
			expect(stopped.errorOf('Wait for Video')?.description).toContain('charged');
		},
	);
});

describe('files on the host of the gateway', () => {
	const signed = '/files/v.mp4?sig=a%2Fb';
	const withKey = 'Bearer demo-key';
	const moved = mp4Of(100_000);
	const file = storage(moved);

	const run = async (serveFile: Reply, node: Way['node']) => {
		const server = await startServer((response, request) => {
			const { path } = request;
			const reply = path.endsWith('/content')
				? redirect(302, signed)
				: json({ status: 'completed' });
			(path === signed ? serveFile : reply)(response, request);
		});
		const credentials = credentialFor({ url: server.url, apiKey: 'demo-key' });
		const result = await runWorkflow(chain(node), { credentials, input: [{ json: { id: 'x' } }] });
		expect(sha256(await result.binary(result.items('Wait for Video')[0]))).toBe(sha256(moved));
		const fetches = server.requests.filter(({ path }) => path === signed);
		return fetches.map(({ headers }) => headers.authorization);
	};
	const { 'Video: Get Content': getContent, 'Wait for Video (video job)': wait } = ways;

	it.each([getContent.node, wait.node])(
		'sends the key to a file on the same host only after a refusal without it',
		async (node) => {
			const keyWanted: Reply = (...exchange) =>
				(exchange[1].headers.authorization === withKey ? file : answer(401, ''))(...exchange);
			expect(await run(keyWanted, node)).toEqual([undefined, withKey]);
		},
	);

	it.each([getContent.node, wait.node])(
		'accepts the file itself as the response of the content endpoint, whatever its type',
		async (node) => {
			for (const type of ['text/plain', 'application/json', '']) {
				const { bytes } = otherVideos.WebM;
				const serveFile = answer(200, bytes, type === '' ? {} : { 'content-type': type });
				const server = await startServer((response, request) =>
					(request.path.endsWith('/content') ? serveFile : json({ status: 'completed' }))(
						response,
						request,
					),
				);
				const credentials = credentialFor({ url: server.url, apiKey: 'demo-key' });
				const input = [{ json: { id: 'x' } }];
				const [item] = (await runWorkflow(chain(node), { credentials, input })).items(
					'Wait for Video',
				);
				expect(item.binary?.data).toMatchObject({ fileName: 'x.webm', mimeType: 'video/webm' });
			}
		},
	);
});
