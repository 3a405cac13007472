import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { box } from '../test/support/files/boxes';

const host = '127.0.0.1';

/** The beginning of an mp4, which is enough to recognize it as one. */
export const videoHeader = Buffer.concat([
	box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2avc1mp41', 'latin1')),
	box('moov', Buffer.alloc(200)),
]);
/** A piece of the media data, which is sent as often as needed. */
const piece = Buffer.alloc(64 * 1024);

/** Yields an mp4 of this size. */
function* video(bytes: number): Generator<Buffer> {
	const boxBytes = bytes - videoHeader.length;
	const boxHeader = box('mdat', undefined, boxBytes);
	yield videoHeader;
	yield boxHeader;
	for (let left = boxBytes - boxHeader.length; left > 0; left -= piece.length) {
		yield piece.subarray(0, left);
	}
}

interface LargeVideos {
	server: Server;
	/** The URL of a video of this many bytes, at most 4 GiB. */
	urlOf(bytes: number): string;
}

/**
 * A storage host that makes the bytes of its videos while it sends them, so that neither a disk nor the measured
 * memory is involved.
 */
export async function serveLargeVideos(): Promise<LargeVideos> {
	const server = createServer(({ url = '' }, response) => {
		const bytes = Number(/\d+/.exec(url));
		response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes });
		Readable.from(video(bytes)).pipe(response);
	});
	await once(server.listen(0, host), 'listening');
	const { port } = server.address() as AddressInfo;
	return { server, urlOf: (bytes) => `http://${host}:${port}/${bytes}.mp4` };
}
