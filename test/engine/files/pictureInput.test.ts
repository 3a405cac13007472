import { GifEncoder } from '@napi-rs/canvas';
import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { UploadedFile } from '../../../gateway/files';
import { runWorkflow } from '../../harness';
import { jpegOf, withPictures } from '../../support/files/jpegs';
import { byId, chain, credentialFor, modelGateway } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

let gateway: Gateway;
withGateway({}, (world) => void ({ gateway } = world));

const images = { values: [{ source: 'binary', binaryField: 'data' }] };
const operations: Record<string, IDataObject> = {
	'image.edit': { resource: 'image', operation: 'edit', model: byId('image-edit-1') },
	'image.chat': { resource: 'image', operation: 'chat', model: byId('image-chat-1'), images },
	'chat.complete': {
		...{ resource: 'chat', operation: 'complete', model: byId('chat-1') },
		messages: { values: [{ role: 'user', content: 'What is this?', images }] },
	},
};
const names = Object.keys(operations);
const run = async (
	operation: string,
	bytes: Uint8Array,
	fileName: string,
	mimeType: string,
	options: IDataObject = {},
) => {
	const data = Buffer.from(bytes).toString('base64');
	const input = [{ json: {}, binary: { data: { fileName, mimeType, data } } }];
	const node = modelGateway({ prompt: 'A lighthouse', ...operations[operation], options });
	return await runWorkflow(chain(node), { credentials: credentialFor(gateway), input });
};

/** The one file in a request: a part of a form, or a data URL. */
function sentFile(body: unknown): Buffer {
	const { image } = body as { image?: UploadedFile };
	if (image instanceof UploadedFile) return Buffer.from(image.bytes);
	const [, base64] = /base64,([\w+/=]*)/.exec(JSON.stringify(body)) ?? [];
	return Buffer.from(base64 ?? '', 'base64');
}

function animation(): Uint8Array {
	const encoder = new GifEncoder(8, 8);
	for (const shade of [0, 255]) {
		encoder.addFrame(new Uint8Array(8 * 8 * 4).fill(shade), 8, 8, { delay: 100 });
	}
	return encoder.finish();
}

it.each(names)('refuses an animation with the name of a JPEG: %s', async (operation) => {
	const result = await run(operation, animation(), 'multi.jpg', 'image/jpeg');
	expect(result.errorOf('Model Gateway')?.message).toContain(
		'several frames behind the name multi.jpg',
	);
	expect(gateway.requests).toEqual([]);
});

it.each(names)(
	'sends only the first image of a JPEG with several, and says so, unless checks are skipped: %s',
	async (operation) => {
		const plain = jpegOf('teal');
		const file = withPictures(plain, jpegOf('orange'));
		const send = async (options: IDataObject) => {
			const result = await run(operation, file, 'photo.jpg', 'image/jpeg', options);
			const posts = gateway.requests.filter(({ method }) => method === 'POST');
			return { sent: sentFile(posts.at(-1)?.body), hints: result.hintsOf('Model Gateway') };
		};
		const hint = 'photo.jpg holds more than one image, or a clip; only its first image was sent.';
		expect(await send({})).toEqual({ sent: plain, hints: [hint] });
		expect(await send({ skipChecks: true })).toEqual({ sent: file, hints: [] });
	},
);
