/** Runs in its own process: the server that all ways use. */
import { startGateway, type Gateway } from '../../gateway';
import { earlierJob } from '../../test/support/workflows/earlierJobs';
import { sampleVideo } from '../../test/support/data/samples';
import { serveLargeVideos, videoHeader } from '../largeVideos';
import { serveAlibaba } from './alibaba';
import { Traffic } from './traffic';

/** Seconds until a video is finished. */
export const videoSeconds = 8;
export const chatMilliseconds = 200;
export const embeddingMilliseconds = 50;

/** A video that was made before. */
export interface FinishedVideo {
	id: string;
	/** URL of the file, for a node that knows nothing about jobs. */
	url: string;
	bytes: number;
}

/** `aside` makes videos as `videos` does, for an n8n whose requests must not be counted with the others. */
export type GatewayName = 'chats' | 'embeddings' | 'videos' | 'aside' | 'files';

export async function serve() {
	const video = await sampleVideo();
	const production = { jobSeconds: videoSeconds, render: async () => video };
	const gateways: Record<GatewayName, Gateway> = {
		chats: await startGateway({ answerMilliseconds: chatMilliseconds }),
		embeddings: await startGateway({ answerMilliseconds: embeddingMilliseconds }),
		videos: await startGateway(production),
		aside: await startGateway(production),
		files: await startGateway(),
	};
	const ofEach = <T>(use: (gateway: Gateway) => T) => ({
		chats: use(gateways.chats),
		embeddings: use(gateways.embeddings),
		videos: use(gateways.videos),
		aside: use(gateways.aside),
		files: use(gateways.files),
	});
	const trafficOf = ofEach((gateway) => new Traffic(gateway));
	const storage = await serveLargeVideos();
	trafficOf.files.watch(storage.server);

	const finished = (bytes: number): FinishedVideo => {
		const { id } = earlierJob(gateways.files, 'video', videoHeader);
		const url = storage.urlOf(bytes);
		gateways.files.fault({
			route: 'videoContent',
			times: Infinity,
			when: ({ jobId }) => jobId === id,
			action: 'answer',
			body: JSON.stringify({ url }),
		});
		return { id, url, bytes };
	};
	return {
		gateways: ofEach(({ url, backupUrl, apiKey }) => ({ url, backupUrl, apiKey })),
		/** The same videos, for n8n's Alibaba Cloud node. */
		alibaba: {
			videos: (await serveAlibaba(gateways.videos)).url,
			aside: (await serveAlibaba(gateways.aside)).url,
			files: (await serveAlibaba(gateways.files, { isFinished: true })).url,
		},
		/** The size of each video that is made. */
		videoBytes: video.length,
		files: { small: finished(20e6), large: finished(400e6), huge: finished(4e9) },
		/** The traffic of a gateway since the last call. */
		traffic: (name: GatewayName) => trafficOf[name].take(),
		/** The tenth chat from now on gets a 429. */
		refuse() {
			gateways.chats.fault({
				route: 'chat',
				skip: 9,
				action: 'error',
				status: 429,
				code: 'rate_limit_exceeded',
				headers: { 'retry-after': '1' },
			});
		},
	};
}
