import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { responseMemory } from '../../../nodes/shared/service/client/responseMemory';
import { subjects, tryNode } from '../../support/workflows/everyNode';
import { startServer } from '../../support/http/scriptedServer';

const [, chat] = subjects.find(([name]) => name === 'chat complete')!;

it('a response without end is given up by what comes out of its compression, and leaves the memory to others', async () => {
	const pieces = function* () {
		yield '{"choices":[{"message":{"content":"';
		for (;;) yield 'Once more. '.repeat(100_000);
	};
	const server = await startServer((response) => {
		response.writeHead(200, { 'content-encoding': 'gzip' });
		pipeline(Readable.from(pieces()), createGzip(), response, () => undefined);
	});
	const gateway = { url: server.url, apiKey: 'demo-key-0123456789' };
	expect(await tryNode(chat, { continues: false, json: {}, gateway })).toMatchObject({
		message: expect.stringContaining('has more than 100 million characters'),
		record: { billed: 'unknown', retry_can_help: false },
	});
	await server.idle();
	expect(responseMemory.heldBytes).toBe(0);
});
