import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gateway } from '../../gateway';
import { sha256 } from '../support/data/sha256';
import { jobsOf } from './charges';

/** A video, as the node after Wait for Video has sent it on. */
export interface Delivery {
	/** The name that it was ordered with. */
	name: string;
	sha256: string;
	bytes: number;
	/** When it began to arrive, in milliseconds since 1970. */
	at: number;
}

/** Receives the videos of all workflows: the node after Wait for Video sends each to `<url>/<name>`. */
export interface Sink {
	readonly url: string;
	readonly deliveries: readonly Delivery[];
	close(): Promise<void>;
}

export async function startSink(): Promise<Sink> {
	const deliveries: Delivery[] = [];
	const server = createServer((request, response) => {
		const at = Date.now();
		const hash = createHash('sha256');
		let bytes = 0;
		request.on('data', (chunk: Buffer) => {
			hash.update(chunk);
			bytes += chunk.length;
		});
		request.once('end', () => {
			const name = decodeURIComponent((request.url ?? '').slice(1));
			deliveries.push({ name, sha256: hash.digest('hex'), bytes, at });
			response.setHeader('content-type', 'application/json').end('{}');
		});
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		deliveries,
		async close() {
			server.close();
			server.closeAllConnections();
		},
	};
}

/** How often the video of this name has arrived with its own bytes. */
export function deliveriesOf(
	gateway: Gateway,
	deliveries: readonly Delivery[],
	name: string,
): number {
	const hashes = new Set(jobsOf(gateway, name).map(({ video }) => video && sha256(video.bytes)));
	return deliveries.filter((each) => each.name === name && hashes.has(each.sha256)).length;
}
