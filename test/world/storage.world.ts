import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { IDataObject } from 'n8n-workflow';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FaultRule, Gateway } from '../../gateway';
import { resumeToEnd, runWorkflow } from '../harness';
import { picture, sampleVideo } from '../support/data/samples';
import { sha256 } from '../support/data/sha256';
import { forward } from '../support/http/proxy';
import { cut, startServer } from '../support/http/scriptedServer';
import { isFor, itemsWith } from '../support/workflows/itemOperations';
import { itemText, worldOperations } from './operations';
import { anyKey, startWorldGateway } from './outcomes';
import { placeHere, startScript, urlOf, type Program } from './program';

const bucket = 'results';
/** The ID and the secret of the key that s3rver knows. */
const secret = 'S3RVER';
/** Escaped in a link, and a client that rewrites the link breaks it. */
const nameOf = (kind: Kind) => `A boat + a kite/${kind}`;

type Kind = 'video' | 'image';

/** How a link is signed. s3rver checks the expiry time of both versions, and the signature of version 2 only. */
type Sign = (origin: string, kind: Kind, expires: Date) => Promise<string>;

const clientOf = (endpoint: string) =>
	new S3Client({
		endpoint,
		region: 'us-east-1',
		forcePathStyle: true,
		credentials: { accessKeyId: secret, secretAccessKey: secret },
	});
const minute = 60_000;

const signers: Record<'version 4' | 'version 2', Sign> = {
	'version 4': async (origin, kind, expires) =>
		await getSignedUrl(
			clientOf(origin),
			new GetObjectCommand({ Bucket: bucket, Key: nameOf(kind) }),
			{ expiresIn: 60, signingDate: new Date(expires.getTime() - minute) },
		),
	'version 2': async (origin, kind, expires) => {
		const place = `/${bucket}/${nameOf(kind).split('/').map(encodeURIComponent).join('/')}`;
		const seconds = Math.round(expires.getTime() / 1000);
		const signature = createHmac('sha1', secret).update(`GET\n\n\n${seconds}\n${place}`);
		const query = `AWSAccessKeyId=${secret}&Expires=${seconds}&Signature=`;
		return `${origin}${place}?${query}${encodeURIComponent(signature.digest('base64'))}`;
	},
};
const inAMinute = () => new Date(Date.now() + minute);

type Answer = Extract<FaultRule, { action: 'answer' }>;

/** An operation that downloads a file. */
interface Way {
	title: string;
	/** In the list of operations. */
	name: string;
	kind: Kind;
	/** The responses of the gateway, of which one has the link. */
	answers: (url: string, id: string) => Answer[];
}

const answer = (route: Answer['route'], body: object, more: Partial<Answer> = {}): Answer => ({
	route,
	action: 'answer',
	body: JSON.stringify(body),
	...more,
});

const ways: Way[] = [
	{
		title: 'Wait for Video, of a task',
		name: 'wait (task)',
		kind: 'video',
		answers: (url, id) => [answer('task', { task_id: id, status: 'completed', result_url: url })],
	},
	{
		title: 'Wait for Video, of a video job',
		name: 'wait (video)',
		kind: 'video',
		answers: (url) => [answer('videoContent', { url })],
	},
	{
		title: 'Video: Get Content, with a redirect to the link',
		name: 'video.getContent',
		kind: 'video',
		answers: (location) => [answer('videoContent', {}, { status: 302, headers: { location } })],
	},
	{
		title: 'Image: Generate',
		name: 'image.generate',
		kind: 'image',
		answers: (url) => [answer('imageGenerate', { data: [{ url }] })],
	},
];

const files: Record<Kind, Uint8Array> = {
	video: new Uint8Array(),
	image: Buffer.from(picture('teal', 64, 48)),
};
let gateway: Gateway;
let program: Program;
let folder: string;
let url: string;

beforeAll(async () => {
	files.video = await sampleVideo();
	gateway = await startWorldGateway();
	folder = mkdtempSync(path.join(tmpdir(), 'world-'));
	const place = await placeHere();
	url = urlOf(place);
	const settings = ['-a', place.host, '-p', String(place.port), '-d', folder];
	const buckets = ['--silent', '--no-vhost-buckets', '--configure-bucket', bucket];
	program = await startScript('s3rver/bin/s3rver.js', [...settings, ...buckets], place);
	for (const [kind, ContentType] of [
		['video', 'video/mp4'] as const,
		['image', 'image/png'] as const,
	]) {
		const file = { Bucket: bucket, Key: nameOf(kind), Body: files[kind], ContentType };
		await clientOf(url).send(new PutObjectCommand(file));
	}
});
afterAll(async () => {
	await program.stop();
	await gateway.close();
	rmSync(folder, { recursive: true, force: true });
});

let runs = 0;

/** Runs the operation; the responses of the gateway have this link. @returns the hash of the file */
async function run({ name, answers }: Way, link: string): Promise<string> {
	const { workflow, fields } = worldOperations.find((operation) => operation.name === name)!;
	const json: IDataObject = { text: `${itemText} ${runs++}.`, ...(await fields?.(gateway)) };
	const text = String(json.text);
	for (const rule of answers(link, text)) {
		gateway.fault({ ...rule, times: Infinity, when: isFor(text) });
	}
	const started = await runWorkflow(workflow, {
		credentials: { modelGatewayApi: { apiKey: anyKey, baseUrl: gateway.url } },
		input: itemsWith([text], json),
	});
	const ended = await resumeToEnd(started);
	expect(ended.errorOf('Node')?.message).toBeUndefined();
	return sha256(await ended.binary(ended.items('Node')[0]));
}

describe.each(Object.keys(signers) as Array<keyof typeof signers>)('links of %s', (version) => {
	const sign = signers[version];

	it.each(ways)(
		'are fetched as they are, without the key, and give the whole file: $title',
		async (way) => {
			const server = await startServer(forward(url, () => undefined));
			const link = await sign(server.url, way.kind, inAMinute());
			expect(await run(way, link)).toBe(sha256(files[way.kind]));
			expect(server.requests.map(({ path: asked }) => server.url + asked)).toEqual([link]);
			expect(server.requests[0].headers).not.toHaveProperty('authorization');
			expect(JSON.stringify(server.requests)).not.toContain(anyKey);
		},
	);

	it('resume an interrupted download at the last byte received', async () => {
		const [way] = ways;
		const half = Math.floor(files.video.length / 2);
		const beginning = files.video.subarray(0, half);
		const server = await startServer(
			forward(url, (headers) => cut(beginning, headers as Record<string, string>)),
			forward(url, () => undefined),
		);
		const link = await sign(server.url, 'video', inAMinute());
		expect(await run(way, link)).toBe(sha256(files.video));
		const ranges = server.requests.map(({ headers }) => headers.range);
		expect(ranges).toEqual([undefined, `bytes=${half}-`]);
	});
});
