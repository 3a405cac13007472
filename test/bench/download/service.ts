/**
 * A process of its own: the gateway, with a small and a large video that are finished. A storage makes
 * their bytes as it sends them, so that neither a disk nor the memory under measurement is involved.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { startGateway } from '../../gateway';
import { box } from '../../support/boxes';
import { earlierJob } from '../../support/earlierJobs';
import { reportTo } from '../helperProcess';

export interface Service {
	url: string;
	apiKey: string;
	/** To warm up with. */
	small: FinishedVideo;
	large: FinishedVideo;
}

/** As an item of a workflow. */
export interface FinishedVideo {
	task_id: string;
	/** Of the file, for a node that knows nothing of tasks. */
	url: string;
	bytes: number;
}

const host = '127.0.0.1';
const header = Buffer.concat([
	box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2avc1mp41', 'latin1')),
	box('moov', Buffer.alloc(200)),
]);
/** Of the pictures: sent over and over, as many as it takes. */
const piece = Buffer.alloc(64 * 1024);

/** Gives an mp4 of this size. */
function* video(bytes: number): Generator<Buffer> {
	const boxBytes = bytes - header.length;
	const boxHeader = box('mdat', undefined, boxBytes);
	yield header;
	yield boxHeader;
	for (let left = boxBytes - boxHeader.length; left > 0; left -= piece.length) {
		yield piece.subarray(0, left);
	}
}

/** The path names the size of the file. */
function createStorage(): Server {
	return createServer(({ url = '' }, response) => {
		const bytes = Number(/\d+/.exec(url));
		response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes });
		Readable.from(video(bytes)).pipe(response);
	});
}

reportTo(async (): Promise<Service> => {
	const storage = createStorage();
	await once(storage.listen(0, host), 'listening');
	const { port } = storage.address() as AddressInfo;
	const gateway = await startGateway();

	const finishedVideo = (bytes: number): FinishedVideo => {
		const { id } = earlierJob(gateway, 'task', header);
		const url = `http://${host}:${port}/${bytes}.mp4`;
		gateway.fault({
			...{ route: 'download', times: Infinity, when: ({ jobId }) => jobId === id },
			...{ action: 'answer', status: 302, headers: { location: url } },
		});
		return { task_id: id, url, bytes };
	};
	const { url, apiKey } = gateway;
	return { url, apiKey, small: finishedVideo(1e6), large: finishedVideo(1e9) };
});
