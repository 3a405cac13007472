import { SsrfProtectionConfig } from '@n8n/config';
import { Container } from '@n8n/di';
import type { JobKind } from '../../../nodes/shared/service/protocol/jobs';
import {
	resumeToEnd,
	retryExecution,
	storedFiles,
	testCredential,
	withoutStore,
} from '../../harness';
import { box, mp4Of } from '../../support/files/boxes';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { otherVideos } from '../../support/data/otherVideos';
import { nobody, startServer, type Reply } from '../../support/http/scriptedServer';
import { storage } from '../../support/http/scriptedStorage';
import { withGateway } from '../../support/http/withGateway';
import { sampleVideo } from '../../support/data/samples';
import {
	byId,
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
beforeAll(async () => void (video = await sampleVideo()));
const { gateway, runWorkflow } = withGateway({ isTimeSimulated: true });

const collect = async (
	kind: JobKind,
	id: string,
	{ node = waitForVideo(), mode = 'filesystem' as Mode, settings = {} } = {},
) =>
	await runWorkflow(chain({ ...node, ...settings }), {
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

const { WebM, AVI } = otherVideos;
const noIndex = Buffer.concat([box('ftyp', Buffer.from('isom')), box('mdat', Buffer.alloc(99))]);
const heic = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic'));

it.each<[string, string, Buffer, Mode, string]>([
	['webm', 'video/webm', WebM.bytes, 'default', 'is a WebM video, not an mp4.'],
	['avi', 'video/x-msvideo', AVI.bytes, 'filesystem', 'is an AVI video, not an mp4.'],
	['heic', 'image/heic', heic, 'filesystem', 'is a HEIC image, not an mp4.'],
	['bin', '', Buffer.alloc(1000, 3), 'filesystem', 'is a file of an unknown kind, not an mp4.'],
	[
		'mp4',
		'video/mp4',
		noIndex,
		'filesystem',
		'has no index (moov): it arrived as the service made it, but players cannot open it.',
	],
])(
	'delivers as .%s what is charged but is no mp4 that plays, and shows a hint',
	async (extension, mimeType, bytes, mode, hint) => {
		const { id } = await servedBy(storage(bytes, { until: bytes.length / 2 }), storage(bytes));
		const result = await collect('task', id, { mode });
		const [item] = result.items('Wait for Video');
		expect(sha256(await result.binary(item))).toBe(sha256(bytes));
		const fileName = `${id}.${extension}`;
		expect(item.binary?.data).toMatchObject({ fileName, ...(mimeType && { mimeType }) });
		expect(result.hintsOf('Wait for Video')).toEqual([`${fileName} ${hint}`]);
	},
);

it('follows a redirect whose address is written in UTF-8, as browsers do', async () => {
	const address = '/ü/视频.mp4?x=é';
	const location = Buffer.from(address).toString('latin1');
	const redirect: Reply = (response) => response.writeHead(302, { location }).end();
	const { id, server } = await servedBy(redirect, storage(video));
	expect((await collect('task', id)).items('Wait for Video')[0].binary).toBeDefined();
	expect(server.requests[1].path).toBe(encodeURI(address));
});

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
			billed: 'yes',
			retry_can_help: true,
			job: { id },
			advice: expect.stringMatching(/finished and charged.* Collect it by its ID/),
		});
		expect(binary).toBeUndefined();
		expect(server.requests).toHaveLength(5);
		expect(await storedFiles(result)).toEqual([]);
	},
);

describe('a host that cannot be reached', () => {
	beforeAll(() => void (Container.get(SsrfProtectionConfig).enabled = true));
	afterAll(() => void (Container.get(SsrfProtectionConfig).enabled = false));

	const allow =
		'Ask the administrator of n8n to allow it (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES).';
	const blocks = "could not be reached: n8n's SSRF protection blocks it";
	const hosts: Array<[what: string, url: () => Promise<string>, problem: string, advice: string]> =
		[
			[
				'where nothing listens',
				async () => nobody,
				'127.0.0.1:1 could not be reached: nothing responds there',
				'Check whether the DNS, a firewall or a proxy keeps n8n from 127.0.0.1:1.',
			],
			[
				'whose name n8n blocks',
				async () => 'https://storage.blocked',
				`storage.blocked ${blocks}`,
				allow,
			],
			[
				'whose address n8n blocks',
				async () => 'http://127.0.0.2:9000',
				`127.0.0.2:9000 ${blocks}`,
				allow,
			],
		];

	it.each(hosts)(
		'explains why the download of a video fails at a storage host %s',
		async (_, urlOf, problem, advice) => {
			const { id } = earlierJob(gateway, 'task', mp4Of(1000));
			const body = { status: 'completed', result_url: `${await urlOf()}/v.mp4`, task_id: id };
			gateway.fault({
				route: 'task',
				action: 'answer',
				times: Infinity,
				body: JSON.stringify(body),
			});
			const result = await runWorkflow(chain(waitForVideo()), {
				input: [{ json: { task_id: id } }],
			});
			const { message, description } = result.errorOf('Wait for Video') ?? {};
			expect(message).toContain(`Could not download the video of job ${id}: `);
			expect(message).toContain(problem);
			expect(description).toContain(advice);
			expect(description).toContain('The video is finished and charged, and it is not lost');
			expect(description).not.toMatch(/Base URL|credential|[Nn]othing was sent/);
		},
	);

	it('explains why the download of an image fails', async () => {
		const data = [{ url: 'https://storage.blocked/1.png' }];
		gateway.fault({ route: 'imageGenerate', action: 'answer', body: JSON.stringify({ data }) });
		const generate = modelGateway({
			resource: 'image',
			operation: 'generate',
			model: byId('image-1'),
			prompt: 'A boat',
		});
		const result = await runWorkflow(chain(generate));
		const { message, description } = result.errorOf('Model Gateway') ?? {};
		expect(message).toContain(`storage.blocked ${blocks}`);
		expect(description).toContain(allow);
		expect(description).toContain('The image is made and charged. Fetch it by its link');
		expect(description).not.toMatch(/Base URL|credential|[Nn]othing was sent/);
	});

	it('names the n8n setting that blocks the address of the gateway', async () => {
		const models = modelGateway({ resource: 'model', operation: 'getAll', returnAll: true });
		const credentials = credentialFor({ url: 'https://storage.blocked', apiKey: 'sk-0123456789' });
		const error = (await runWorkflow(chain(models), { credentials })).errorOf('Model Gateway');
		expect(error?.message).toContain(`Could not list the models: the gateway ${blocks}`);
		expect(error?.description).toContain(allow);
		const dialog = await testCredential('modelGatewayApi', credentials.modelGatewayApi);
		expect(dialog.message).toMatch(`Base URL: the gateway ${blocks}`);
		expect(dialog.message).toContain(allow);
	});
});
