import { GifEncoder } from '@napi-rs/canvas';
import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isFinal } from '../../../nodes/shared/gateway/protocol/jobs';
import { startGateway, type Gateway } from '../../../gateway';
import {
	EngineProcess,
	moveReceivedFiles,
	openSignedBinary,
	receiveFile,
	registerTypes,
	retryExecution,
	runWorkflow,
} from '../../harness';
import { storedBy } from '../../support/workflows/interruptions';
import { mp4Of } from '../../support/files/boxes';
import { jpegOf, withPictures } from '../../support/files/jpegs';
import { picture } from '../../support/data/samples';
import {
	chain,
	core,
	createReferenceVideo,
	credentialFor,
	startedBy,
} from '../../support/workflows/workflows';

/** An earlier node that makes a file. */
const camera: INodeType = {
	description: {
		displayName: 'Camera',
		name: 'camera',
		group: ['transform'],
		version: 1,
		description: 'Makes a picture',
		defaults: { name: 'Camera' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [],
	},
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const bytes = Buffer.from(picture('green'));
		const photo = await this.helpers.prepareBinaryData(bytes, 'photo.png', 'image/png');
		return [[{ json: {}, binary: { photo }, pairedItem: { item: 0 } }]];
	},
};

const plainJpeg = jpegOf('teal');
const phoneJpeg = withPictures(plainJpeg, jpegOf('orange'));

/** What the disk has, as an earlier node gives it. */
let onDisk = { bytes: phoneJpeg, name: 'photo.jpg', mimeType: 'image/jpeg' };

/** An earlier node that gives a file. */
const disk: INodeType = {
	description: { ...camera.description, name: 'disk' },
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { bytes, name, mimeType } = onDisk;
		const photo = await this.helpers.prepareBinaryData(bytes, name, mimeType);
		return [[{ json: {}, binary: { photo }, pairedItem: { item: 0 } }]];
	},
};

function animation(): Buffer {
	const encoder = new GifEncoder(8, 8);
	for (const shade of [0, 255]) {
		encoder.addFrame(new Uint8Array(8 * 8 * 4).fill(shade), 8, 8, { delay: 100 });
	}
	return encoder.finish();
}

const createWith = (options: IDataObject) =>
	createReferenceVideo({
		mediaInput: 'fields',
		media: { values: [{ type: 'reference_image', source: 'binary', binaryField: 'photo' }] },
		options: { resolution: '720P', duration: 2, ...options },
	});
const create = createWith({});

describe('files of earlier nodes as reference media', () => {
	let gateway: Gateway;
	let n8n: Server;
	let restApiUrl: string;
	let fetches: number;

	beforeAll(async () => {
		registerTypes({ nodes: [camera, disk] });
		gateway = await startGateway({
			...{ jobSeconds: 0, idempotencyHeader: 'Idempotency-Key' },
			render: async () => new Uint8Array(0),
		});
		// Serves n8n's signed links, as n8n does, at a stand-in for its public address.
		n8n = createServer(async (request, response) => {
			fetches++;
			try {
				const { stream, mimeType } = await openSignedBinary(request.url ?? '');
				response.setHeader('content-type', mimeType ?? '');
				stream.pipe(response);
			} catch {
				response.writeHead(404).end();
			}
		}).listen(0, '127.0.0.1');
		await once(n8n, 'listening');
		restApiUrl = `http://127.0.0.1:${(n8n.address() as AddressInfo).port}/rest`;
	});
	beforeEach(() => (fetches = 0));
	afterAll(async () => {
		// The service fetches the media some time after the order.
		while (gateway.jobs.list().some(({ phase }) => !isFinal(phase))) await once(gateway, 'job');
		n8n.closeAllConnections();
		n8n.close();
		await gateway.close();
	});

	const run = async (environment: Parameters<typeof runWorkflow>[1], options: IDataObject = {}) =>
		await runWorkflow(chain({ name: 'Camera', type: 'test.camera' }, createWith(options)), {
			credentials: credentialFor(gateway),
			restApiUrl,
			...environment,
		});

	it('gives the gateway an n8n-signed link to the file', async () => {
		const result = await run({});
		expect(result.status).toBe('success');
		const { output } = result.items('Create')[0].json as { output: { task_id: string } };
		while (gateway.jobs.get(output.task_id)?.phase === 'queued') await once(gateway, 'job');
		while (fetches === 0) await once(gateway, 'job');
		expect(fetches).toBe(1);
		expect(gateway.jobs.get(output.task_id)?.error).toBeUndefined();
	});

	describe('a file on the disk', () => {
		/** Orders with the file; returns the error, or the file that the link leads to. */
		const send = async (
			file: typeof onDisk,
			type = 'reference_image',
			options: IDataObject = {},
		) => {
			onDisk = file;
			const before = gateway.requests.length;
			const media = { values: [{ type, source: 'binary', binaryField: 'photo' }] };
			const order = createReferenceVideo({ mediaInput: 'fields', media, options });
			const result = await runWorkflow(chain({ name: 'Disk', type: 'test.disk' }, order), {
				...{ credentials: credentialFor(gateway), restApiUrl, mode: 'trigger', startNode: 'Disk' },
			});
			const error = result.errorOf('Create')?.message;
			const [sent] = gateway.requests.slice(before);
			if (sent === undefined) return { error };
			const { input } = sent.body as { input: { media: Array<{ url: string }> } };
			const fetched = await fetch(input.media[0].url);
			const [{ hints }] = result.data.resultData.runData.Create;
			return {
				error,
				type: fetched.headers.get('content-type'),
				bytes: Buffer.from(await fetched.arrayBuffer()),
				hints: hints?.map(({ message }) => message),
			};
		};
		const phone = { bytes: phoneJpeg, name: 'photo.jpg', mimeType: 'image/jpeg' };
		const clip = Buffer.from(mp4Of(20_000));

		it('sends only the first image of a JPEG, and shows a hint', async () => {
			const { bytes, hints, type } = await send(phone);
			expect(bytes?.equals(plainJpeg)).toBe(true);
			expect(type).toBe('image/jpeg');
			expect(hints).toEqual([
				'photo.jpg holds more than one image, or a clip; only its first image was sent.',
			]);
		});

		it.each<[string, Buffer, string, string, string]>([
			[
				'reference_image',
				Buffer.from('<html>'),
				'a.png',
				'image/png',
				'is a web page, not an image',
			],
			['reference_image', clip, 'a.mp4', 'video/mp4', 'is an mp4 video, not an image'],
			['reference_image', plainJpeg.subarray(0, -9), 'a.jpg', 'image/jpeg', 'ends in the middle'],
			[
				'reference_image',
				animation(),
				'a.jpg',
				'image/jpeg',
				'several frames behind the name a.jpg',
			],
			['reference_video', plainJpeg, 'a.jpg', 'image/jpeg', 'is a JPEG image, not a video'],
			['reference_video', clip.subarray(0, -9), 'a.mp4', 'video/mp4', 'ends in the middle'],
		])(
			'refuses as %s a file that surely cannot be one: %#',
			async (type, bytes, name, mimeType, problem) => {
				const { error, bytes: sent } = await send({ bytes, name, mimeType }, type);
				expect(error).toContain(
					`Media 1: File ${problem.startsWith('several') ? 'leads to a file with ' : ''}${problem}`,
				);
				expect(sent).toBeUndefined();
			},
		);

		it.each<[string, Buffer, string, string, string]>([
			['reference_image', plainJpeg, 'photo', 'application/octet-stream', 'image/jpeg'],
			['reference_image', Buffer.from(picture('red')), 'a.jpg', 'image/jpeg', 'image/png'],
			['reference_video', clip, 'clip', 'application/octet-stream', 'video/mp4'],
			['reference_video', clip, 'clip.m4v', 'video/x-m4v', 'video/x-m4v'],
			['reference_video', animation(), 'a.gif', 'image/gif', 'image/gif'],
		])(
			'sends as %s a file under the type that its bytes show: %#',
			async (slot, bytes, name, mimeType, expected) => {
				const { error, type, bytes: sent } = await send({ bytes, name, mimeType }, slot);
				expect([error, type]).toEqual([undefined, expected]);
				expect(sent?.equals(bytes)).toBe(true);
			},
		);
	});

	it('recognises an order after a kill although the Retry makes the file again', async () => {
		const before = gateway.ledger.length;
		const n8n = new EngineProcess();
		const stored = await storedBy(n8n, async (onStart) => await run({ onStart }));
		const retried = await retryExecution(stored);
		expect(retried.errorOf('Create')?.message).toContain('This order was sent before');
		expect(gateway.ledger).toHaveLength(before + 1);
	});

	it('refuses a file before it sends anything when n8n keeps files in memory', async () => {
		const charges = gateway.ledger.length;
		const result = await run({ binaryDataMode: 'default' });
		expect(result.errorOf('Create')?.message).toBe(
			'Media 1: File needs n8n to keep files outside its memory (N8N_DEFAULT_BINARY_DATA_MODE=filesystem); change that setting, or give a public https link instead of the file',
		);
		expect(gateway.ledger).toHaveLength(charges);
	});

	it('refuses a file when the gateway cannot reach this n8n', async () => {
		const charges = gateway.ledger.length;
		const result = await run({
			binaryDataMode: 'filesystem',
			restApiUrl: 'http://192.168.1.20:5678/rest',
		});
		expect(result.errorOf('Create')?.message).toContain(
			'cannot be fetched from this n8n, whose address is http://192.168.1.20:5678; give n8n a public https address (WEBHOOK_URL)',
		);
		expect(gateway.ledger).toHaveLength(charges);
	});

	describe('a file that a form received', () => {
		const send = async (count: number, more: IDataObject = {}) => {
			const data = { data: '', mimeType: 'image/png', fileName: 'photo.png' };
			const photos = await Promise.all(
				Array.from({ length: count }, async () => {
					return await receiveFile(Buffer.from(picture('green')), { ...data });
				}),
			);
			// n8n's webhook trigger passes its input on unchanged.
			const result = await runWorkflow(startedBy(core('Form', 'webhook'), create), {
				credentials: credentialFor(gateway, more),
				restApiUrl,
				...{ startNode: 'Form', mode: 'webhook' },
				input: photos.map((photo) => ({ json: {}, binary: { photo } })),
			});
			await moveReceivedFiles(result);
			return result;
		};

		it('sends a link to a form file that still works after n8n has moved the file', async () => {
			const result = await send(1);
			const sent = gateway.requests.filter(({ route }) => route === 'referenceVideoCreate').at(-1);
			const { media } = (sent?.body as { input: { media: Array<{ url: string }> } }).input;
			expect(result.items('Form')[0].binary?.photo.id).not.toContain('/temp/');
			expect((await fetch(media[0].url)).status).toBe(200);
		});

		it('orders once for each form file although its ID changes before the Retry', async () => {
			const charges = gateway.ledger.length;
			const refusal = { status: 403, code: 'permission_denied' };
			gateway.fault({ route: 'referenceVideoCreate', action: 'error', skip: 1, ...refusal });
			const failed = await send(2);
			expect(failed.status).toBe('error');
			expect((await retryExecution(failed)).status).toBe('success');
			expect(gateway.ledger).toHaveLength(charges + 2);
		});

		it('places no second order when the gateway refuses the new link of a form file under the same key', async () => {
			const charges = gateway.ledger.length;
			const refusal = { status: 401, code: 'invalid_api_key' };
			gateway.fault({ route: 'referenceVideoCreate', action: 'reset', accepted: true });
			gateway.fault({ route: 'referenceVideoCreate', action: 'error', ...refusal });
			const failed = await send(1, { advanced: true, idempotencyHeaderName: 'Idempotency-Key' });
			for (let run = failed, retry = 0; retry < 2; retry++) {
				run = await retryExecution(run);
				expect(run.errorOf('Create')?.message).toContain('belongs to another request (HTTP 400');
				expect(run.errorOf('Create')?.context.data).toMatchObject({ billed: 'unknown' });
			}
			expect(gateway.ledger).toHaveLength(charges + 1);
		});
	});

	it('names the binary field when the item has no such file', async () => {
		const result = await runWorkflow(chain(create), {
			credentials: credentialFor(gateway),
			restApiUrl,
		});
		expect(result.errorOf('Create')?.message).toBe(
			'Media 1: File names "photo", but this item has no such file (it has no files at all)',
		);
	});
});
