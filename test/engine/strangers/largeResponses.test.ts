import { PassThrough, pipeline, Readable } from 'node:stream';
import { createBrotliCompress, createDeflate, createGzip } from 'node:zlib';
import { responseMemory } from '../../../nodes/shared/gateway/client/responseMemory';
import { freeBytes, maxHeldBytes } from '../../../nodes/shared/gateway/protocol/bounds';
import { json, startServer, type Reply } from '../../support/http/scriptedServer';
import { subjects, tryNode } from '../../support/workflows/everyNode';

const apiKey = 'demo-key-0123456789';
const piece = 'iVBORw0KGg'.repeat(100_000);
const compressors = {
	identity: () => new PassThrough(),
	gzip: () => createGzip(),
	deflate: () => createDeflate(),
	br: () => createBrotliCompress(),
};

/** One text without end, in JSON, and the bytes of it that the other side has taken. */
function endlessText(encoding: keyof typeof compressors = 'identity') {
	const sent = { bytes: 0 };
	function* pieces() {
		yield '{"data":[{"b64_json":"';
		for (;;) yield piece;
	}
	const reply: Reply = (response) => {
		const { socket } = response;
		response.once('close', () => void (sent.bytes += socket?.bytesWritten ?? 0));
		response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding });
		pipeline(Readable.from(pieces()), compressors[encoding](), response, () => undefined);
	};
	return { sent, reply };
}

const answerTo = async (name: string, reply: Reply) => {
	const server = await startServer(reply);
	const [, subject] = subjects.find(([subjectName]) => subjectName === name)!;
	const gateway = { url: server.url, apiKey };
	const outcome = await tryNode(subject, {
		continues: false,
		gateway,
		json: { task_id: 'task_1', id: 'video_1' },
	});
	await server.idle();
	return { outcome, requests: server.requests.length };
};

describe('a response that is one text without end', () => {
	it.each(['chat complete', 'message create'])(
		'is given up after 100 million characters: %s',
		async (name) => {
			const { outcome } = await answerTo(name, endlessText().reply);
			expect(outcome).toMatchObject({
				message: expect.stringContaining('has more than 100 million characters'),
				record: { billed: 'unknown', retry_can_help: false },
			});
		},
	);

	it.each(['gzip', 'deflate', 'br'] as const)(
		'is given up by what comes out of the compression: %s',
		async (encoding) => {
			const { reply, sent } = endlessText(encoding);
			const { outcome } = await answerTo('video create', reply);
			expect(outcome).toMatchObject({
				message: expect.stringContaining('has more than 10 million characters'),
			});
			// 10 million characters are some kB when compressed; the rest was in the buffers of the connection.
			expect(sent.bytes).toBeLessThan(2_000_000);
		},
	);
});

describe('responses that arrive while others fill the memory', () => {
	const others = responseMemory.share();
	beforeEach(async () => await others.take(maxHeldBytes + freeBytes));
	afterEach(() => others.release());

	it('are read one after another, so that nothing that is paid for is lost', async () => {
		const image = json({ data: [{ b64_json: piece.repeat(20) }] });
		const all = Array.from({ length: 4 }, async () => await answerTo('image generate', image));
		for (const { outcome } of await Promise.all(all)) {
			expect(outcome).toMatchObject([{ binary: { data: { mimeType: 'image/png' } } }]);
		}
		expect(responseMemory.heldBytes).toBe(maxHeldBytes);
	});

	it('are given up by their own size, and let the next one be read', async () => {
		const endless = answerTo('image generate', endlessText().reply);
		const image = json({ data: [{ b64_json: piece.repeat(20) }] });
		const [given, next] = await Promise.all([endless, answerTo('image generate', image)]);
		expect(given.outcome).toMatchObject({
			message: expect.stringContaining('has more than 300 million characters'),
			record: { billed: 'unknown', retry_can_help: false },
		});
		expect(given.requests).toBe(1);
		expect(next.outcome).toMatchObject([{ binary: { data: { mimeType: 'image/png' } } }]);
	});
});
