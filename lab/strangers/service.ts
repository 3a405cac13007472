/** Runs in its own process: strangers who answer as their plans say, and a server inside that nobody may ask. */
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable, Transform, pipeline } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { createBrotliCompress, createDeflate, createGzip, constants } from 'node:zlib';
import { planOf, type Plan } from './plan';

const compressors = {
	identity: () => new Transform({ transform: (bytes, _, pass) => pass(null, bytes) }),
	gzip: () => createGzip(),
	deflate: () => createDeflate(),
	br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
};

const [chunkLength, dripLength, dripPause] = [65_536, 2_000, 20];

/** The pieces of an answer. */
async function* piecesOf({ speed, end }: Plan, text: string): AsyncGenerator<Buffer> {
	const bytes = Buffer.from(text);
	const step = speed === 'drips' ? dripLength : chunkLength;
	const half = Math.floor(bytes.length / 2);
	for (let round = 0; round === 0 || end === 'never'; round++) {
		// The second half comes again: it is rather a part of a list than its beginning.
		for (let at = round === 0 ? 0 : half; at < bytes.length; at += step) {
			if (speed === 'drips') await setTimeout(dripPause);
			if (speed === 'stalls' && round === 0 && at >= half) await setTimeout(60_000);
			yield bytes.subarray(at, at + step);
		}
	}
	if (end === 'cut') throw new Error('cut');
}

function respond(response: ServerResponse, plan: Plan, inside: string): void {
	const { status, compression, kind, length, request } = plan;
	const type = request === 'file' ? 'image/png' : (kind.type ?? 'application/json');
	response.writeHead(status, { 'content-type': type, 'content-encoding': compression });
	const text = kind.text(length).replaceAll('https://a.b', inside);
	pipeline(Readable.from(piecesOf(plan, text)), compressors[compression](), response, () =>
		response.destroy(),
	);
}

export async function serve() {
	let askedInside = 0;
	const start = async (listener: RequestListener) => {
		const server = createServer(listener);
		await once(server.listen(0, '127.0.0.1'), 'listening');
		return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	};
	const inside = await start((_, response) => {
		askedInside++;
		response.end('{"secret":"of the network"}');
	});
	const url = await start((request, response) => {
		request.resume();
		const [, seed = ''] = request.url?.split('/') ?? [];
		if (seed === 'honest') response.end('{"object":"list","data":[{"id":"chat-1"}]}');
		else respond(response, planOf(seed), inside);
	});
	return { url, askedInside: () => askedInside };
}
