import { GifEncoder } from '@napi-rs/canvas';
import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway } from '../gateway';
import { runWorkflow } from '../harness';
import { picture } from './support/samples';
import { byId, chain, credentialFor, modelGateway } from './support/workflows';

let gateway: Gateway;
beforeEach(async () => void (gateway = await startGateway()));
afterEach(async () => await gateway.close());

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
const run = async (operation: string, bytes: Uint8Array, fileName: string, mimeType: string) => {
	const data = Buffer.from(bytes).toString('base64');
	const input = [{ json: {}, binary: { data: { fileName, mimeType, data } } }];
	const node = modelGateway({ prompt: 'A lighthouse', ...operations[operation] });
	return await runWorkflow(chain(node), { credentials: credentialFor(gateway), input });
};

function animation(): Uint8Array {
	const encoder = new GifEncoder(8, 8);
	for (const shade of [0, 255]) {
		encoder.addFrame(new Uint8Array(8 * 8 * 4).fill(shade), 8, 8, { delay: 100 });
	}
	return encoder.finish();
}

describe('a file that is sent as a picture', () => {
	it.each(names)('has no several frames behind the name of a JPEG: %s', async (operation) => {
		const result = await run(operation, animation(), 'multi.jpg', 'image/jpeg');
		expect(result.errorOf('Model Gateway')?.message).toContain(
			'several frames behind the name multi.jpg',
		);
		expect(gateway.requests).toEqual([]);
	});

	it.each(
		names.flatMap((operation) => [
			[operation, '%PDF-1.7\n', 'application/pdf'],
			[operation, 'A lighthouse', 'text/plain'],
			[operation, '<?xml version="1.0"?><Error/>', 'application/xml'],
		]),
	)('is one: %s refuses %j', async (operation, text, mimeType) => {
		const result = await run(operation, Buffer.from(text), 'a', mimeType);
		expect(result.errorOf('Model Gateway')?.message).toContain(`is no picture (it is ${mimeType})`);
		expect(gateway.requests).toEqual([]);
	});

	it.each(names)('goes under its true type: %s', async (operation) => {
		await run(operation, picture('red', 8, 8), 'photo', 'application/octet-stream');
		const [{ body }] = gateway.requests;
		expect(JSON.stringify(body)).toMatch(/image\/png/);
		expect(JSON.stringify(body)).not.toContain('octet-stream');
	});

	it.each(names)('may be in a form that only n8n knows: %s', async (operation) => {
		await run(operation, Buffer.from([0xff, 0x0a, 1]), 'photo.jxl', 'image/jxl');
		expect(JSON.stringify(gateway.requests[0].body)).toMatch(/image\/jxl/);
	});
});
