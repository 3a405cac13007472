import { pipeline } from 'node:stream';
import type { IDataObject } from 'n8n-workflow';
import {
	moveReceivedFiles,
	openSignedBinary,
	receiveFile,
	registerTypes,
	retryExecution,
} from '../../harness';
import { startServer } from '../../support/http/scriptedServer';
import { withGateway } from '../../support/http/withGateway';
import { mp4Of } from '../../support/files/boxes';
import { jpegOf, withPictures } from '../../support/files/jpegs';
import { picture } from '../../support/data/samples';
import { testNode } from '../../support/workflows/testNode';
import {
	chain,
	core,
	createReferenceVideo,
	credentialFor,
	startedBy,
} from '../../support/workflows/workflows';

const plainJpeg = jpegOf('teal');
const phoneJpeg = withPictures(plainJpeg, jpegOf('orange'));
const photo = { bytes: picture('green'), name: 'photo.png', mimeType: 'image/png' };

/** The output of the earlier node. */
let onDisk = photo;

const disk = testNode('disk', {}, async function () {
	const { bytes, name, mimeType } = onDisk;
	const file = await this.helpers.prepareBinaryData(Buffer.from(bytes), name, mimeType);
	return [[{ json: {}, binary: { photo: file }, pairedItem: { item: 0 } }]];
});
const fromDisk = { name: 'Disk', type: 'test.disk' };

const createWith = (type: string) =>
	createReferenceVideo({
		mediaInput: 'fields',
		media: { values: [{ type, source: 'binary', binaryField: 'photo' }] },
		options: { resolution: '720P', duration: 2 },
	});
const create = createWith('reference_image');

describe('files of earlier nodes as reference media', () => {
	let restApiUrl: string;

	const { gateway, runWorkflow } = withGateway({
		jobSeconds: Infinity,
		idempotencyHeader: 'Idempotency-Key',
	});
	beforeAll(() => registerTypes({ nodes: [disk] }));
	beforeEach(async () => {
		onDisk = photo;
		// Serves n8n's signed links, as n8n does, at a stand-in for its public address.
		const n8n = await startServer((response, { path }) => {
			openSignedBinary(path).then(
				({ stream, mimeType = '' }) => {
					response.setHeader('content-type', mimeType);
					// Unlike pipe(), it closes the file when the reader goes away.
					pipeline(stream, response, () => undefined);
				},
				() => response.writeHead(404).end(),
			);
		});
		restApiUrl = `${n8n.url}/rest`;
	});

	const run = async (environment: Parameters<typeof runWorkflow>[1], node = create) =>
		await runWorkflow(chain(fromDisk, node), { restApiUrl, ...environment });

	describe('a file on the disk', () => {
		/** Orders with the file; returns the error, or the file that the link leads to. */
		const send = async (file: typeof onDisk, type = 'reference_image') => {
			onDisk = file;
			const result = await run({ mode: 'trigger', startNode: 'Disk' }, createWith(type));
			const error = result.errorOf('Create')?.message;
			const [sent] = gateway.requests;
			if (sent === undefined) return { error };
			const { input } = sent.body as { input: { media: Array<{ url: string }> } };
			const fetched = await fetch(input.media[0].url);
			return {
				error,
				type: fetched.headers.get('content-type'),
				bytes: Buffer.from(await fetched.arrayBuffer()),
				hints: result.hintsOf('Create'),
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

		it.each<[string, Buffer, string, string]>([
			['reference_image', Buffer.from('<html>'), 'a.png', 'is a web page, not an image'],
			['reference_video', clip.subarray(0, -9), 'a.mp4', 'ends in the middle'],
		])('refuses as %s a file that surely cannot be one: %#', async (...row) => {
			const [type, bytes, name, problem] = row;
			const { error, bytes: sent } = await send({ bytes, name, mimeType: 'image/png' }, type);
			expect(error).toContain(`Media 1: File ${problem}`);
			expect(sent).toBeUndefined();
		});

		it.each<[string, Buffer, string, string, string]>([
			['reference_image', plainJpeg, 'photo', 'application/octet-stream', 'image/jpeg'],
			['reference_video', clip, 'clip', 'application/octet-stream', 'video/mp4'],
			['reference_video', clip, 'clip.m4v', 'video/x-m4v', 'video/x-m4v'],
		])('sends as %s a file under the type that its bytes show: %#', async (...row) => {
			const [slot, bytes, name, mimeType, expected] = row;
			const { error, type, bytes: sent } = await send({ bytes, name, mimeType }, slot);
			expect([error, type]).toEqual([undefined, expected]);
			expect(sent?.equals(bytes)).toBe(true);
		});
	});

	it('refuses a file before it sends anything when n8n keeps files in memory', async () => {
		const result = await run({ binaryDataMode: 'default' });
		expect(result.errorOf('Create')?.message).toBe(
			'Media 1: File needs n8n to keep files outside its memory (N8N_DEFAULT_BINARY_DATA_MODE=filesystem); change that setting, or give a public https link instead of the file',
		);
		expect(gateway.ledger).toHaveLength(0);
	});

	it('refuses a file when the gateway cannot reach this n8n', async () => {
		const result = await run({
			binaryDataMode: 'filesystem',
			restApiUrl: 'http://192.168.1.20:5678/rest',
		});
		expect(result.errorOf('Create')?.message).toContain(
			'cannot be fetched from this n8n, whose address is http://192.168.1.20:5678; give n8n a public https address (WEBHOOK_URL)',
		);
		expect(gateway.ledger).toHaveLength(0);
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
				startNode: 'Form',
				mode: 'webhook',
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

		it('places no second order when the gateway refuses the new link of a form file under the same key', async () => {
			const refusal = { status: 401, code: 'invalid_api_key' };
			gateway.fault({ route: 'referenceVideoCreate', action: 'reset', accepted: true });
			gateway.fault({ route: 'referenceVideoCreate', action: 'error', ...refusal });
			const failed = await send(1, { advanced: true, idempotencyHeaderName: 'Idempotency-Key' });
			for (let run = failed, retry = 0; retry < 2; retry++) {
				run = await retryExecution(run);
				expect(run.errorOf('Create')?.message).toContain('belongs to another request (HTTP 400');
				expect(run.errorOf('Create')?.context.data).toMatchObject({ billed: 'unknown' });
			}
			expect(gateway.ledger).toHaveLength(1);
		});
	});
});
