import type { JobKind } from '../../../nodes/shared/gateway/protocol/jobs';
import { startGateway, type Gateway } from '../../../gateway';
import {
	resumeToEnd,
	retryExecution,
	runWorkflow,
	SimulatedTime,
	storedFiles,
	withoutStore,
} from '../../harness';
import { box } from '../../support/files/boxes';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { otherVideos } from '../../support/data/otherVideos';
import { startServer, type Reply } from '../../support/http/scriptedServer';
import { storage } from '../../support/http/scriptedStorage';
import { sampleVideo } from '../../support/data/samples';
import {
	chain,
	credentialFor,
	modelGateway,
	waitForVideo,
} from '../../support/workflows/workflows';
import { sha256 } from '../../support/data/sha256';

const getContent = modelGateway(
	{ resource: 'video', operation: 'getContent', videoId: '={{ $json.id }}' },
	{ name: 'Wait for Video' },
);
const nodes: Array<[string, JobKind, typeof getContent]> = [
	['Wait for Video (task)', 'task', waitForVideo()],
	['Wait for Video (video job)', 'video', waitForVideo()],
	['Video: Get Content', 'video', getContent],
];
const modes = ['filesystem', 'default'] as const;
type Mode = (typeof modes)[number];

let video: Uint8Array;
let time: SimulatedTime;
let gateway: Gateway;

beforeAll(async () => void (video = await sampleVideo()));
beforeEach(async () => {
	time = new SimulatedTime();
	gateway = await startGateway();
});
afterEach(async () => {
	await gateway.close();
	await time.end();
});

/** Collects a finished job. */
const collect = async (
	kind: JobKind,
	id: string,
	{ node = waitForVideo(), mode = 'filesystem' as Mode, settings = {} } = {},
) =>
	await runWorkflow(chain({ ...node, ...settings }), {
		credentials: credentialFor(gateway),
		input: [{ json: kind === 'task' ? { task_id: id } : { id } }],
		binaryDataMode: mode,
	});
/** A finished task whose file is at another storage host. */
const servedBy = async (...replies: Reply[]) => {
	const { id } = earlierJob(gateway, 'task', video);
	const server = await startServer(...replies);
	const result_url = `${server.url}/v.mp4?sig=a%2Fb`;
	const body = JSON.stringify({ task_id: id, status: 'completed', progress: 100, result_url });
	gateway.fault({ route: 'task', action: 'answer', times: Infinity, body });
	return { id, server };
};

it.each([
	['WebM', 'filesystem'],
	['WebM', 'default'],
	['AVI', 'filesystem'],
] as const)('delivers a %s video under its own type, and shows a hint (%s)', async (kind, mode) => {
	const { bytes, mimeType, extension } = otherVideos[kind];
	const { id } = await servedBy(storage(bytes, { until: 40_000 }), storage(bytes));
	const result = await collect('task', id, { mode });
	const [item] = result.items('Wait for Video');
	expect(sha256(await result.binary(item))).toBe(sha256(bytes));
	const fileName = `${id}.${extension}`;
	expect(item.binary?.data).toMatchObject({ mimeType, fileName, fileExtension: extension });
	expect(result.hintsOf('Wait for Video')).toEqual([
		`${fileName} is a${kind === 'AVI' ? 'n' : ''} ${kind} video, not an mp4.`,
	]);
});

it.each<[string, Buffer, string]>([
	['heic', box('ftyp', Buffer.from('heic\0\0\0\0mif1heic')), 'is a HEIC image, not an mp4.'],
	['bin', Buffer.alloc(1000, 3), 'is a file of an unknown kind, not an mp4.'],
	[
		'mp4',
		Buffer.concat([box('ftyp', Buffer.from('isom')), box('mdat', Buffer.alloc(99))]),
		'has no index (moov): it arrived as the service made it, but players cannot open it.',
	],
])(
	'delivers as .%s what is charged but is no video that plays, and shows a hint',
	async (extension, bytes, hint) => {
		const { id } = await servedBy(storage(bytes));
		const result = await collect('task', id);
		expect(sha256(await result.binary(result.items('Wait for Video')[0]))).toBe(sha256(bytes));
		expect(result.hintsOf('Wait for Video')).toEqual([`${id}.${extension} ${hint}`]);
	},
);

it.each(nodes)(
	'reports that n8n could not store the video, and downloads it in a Retry: %s',
	async (_, kind, node) => {
		const { id } = earlierJob(gateway, kind, video);
		const failed = await withoutStore(async () => await collect(kind, id, { node }));
		const error = failed.errorOf('Wait for Video');
		expect(error?.message).toContain(`${id}: n8n could not store it: E`);
		expect(error?.description).toContain("Check n8n's binary data storage");
		expect(error?.description).toContain('The video is finished and charged');
		expect(error?.description).not.toContain('Nothing was sent');
		const retried = await resumeToEnd(await retryExecution(failed));
		expect(sha256(await retried.binary(retried.items('Wait for Video')[0]))).toBe(sha256(video));
	},
);

it.each(modes)(
	'fails after five requests to a storage host that always breaks off, and stores no file (%s)',
	async (mode) => {
		const { id, server } = await servedBy(storage(video, { until: Math.floor(video.length / 2) }));
		const settings = { onError: 'continueErrorOutput' } as const;
		const result = await collect('task', id, { mode, settings });
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
	},
);
