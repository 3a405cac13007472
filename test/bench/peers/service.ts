/** A process of its own: the one server that all ways to do a work talk to. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sampleVideo } from '../../engine/support/samples';
import { startGateway, type Gateway } from '../../gateway';
import { earlierJob } from '../../support/earlierJobs';
import { reportTo } from '../helperProcess';
import { serveLargeVideos, videoHeader } from '../largeVideos';
import { serveAlibaba } from './alibaba';
import { Tally } from './tally';

/** Seconds that a video takes to be made. */
export const videoSeconds = 8;
export const chatMilliseconds = 200;
export const embeddingMilliseconds = 50;

/** A video that was made before. */
export interface FinishedVideo {
	id: string;
	/** Of the file, for a node that knows nothing of jobs. */
	url: string;
	bytes: number;
}

type Address = Pick<Gateway, 'url' | 'backupUrl' | 'apiKey'>;
/** `aside` makes videos as `videos` does, for an n8n whose requests are not to be counted with the others. */
export type GatewayName = 'chats' | 'embeddings' | 'videos' | 'aside' | 'files';

export interface Service {
	gateways: Record<GatewayName, Address>;
	/** The same videos, as n8n's node for Alibaba Cloud asks for them. */
	alibaba: Record<'videos' | 'aside' | 'files', string>;
	/** Of each video that is made. */
	videoBytes: number;
	files: { small: FinishedVideo; large: FinishedVideo; huge: FinishedVideo };
	/** `/<gateway>` gives what it met since it was last asked; `/refuse` lets the tenth chat from then on meet a 429. */
	controlUrl: string;
}

async function serve(): Promise<Service> {
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
	const tallies = ofEach((gateway) => new Tally(gateway));
	const storage = await serveLargeVideos();
	tallies.files.watch(storage.server);

	const finished = (bytes: number): FinishedVideo => {
		const { id } = earlierJob(gateways.files, 'video', videoHeader);
		const url = storage.urlOf(bytes);
		gateways.files.fault({
			...{ route: 'videoContent', times: Infinity, when: ({ jobId }) => jobId === id },
			...{ action: 'answer', body: JSON.stringify({ url }) },
		});
		return { id, url, bytes };
	};
	const refuse = () =>
		gateways.chats.fault({
			...{ route: 'chat', skip: 9, action: 'error', status: 429, code: 'rate_limit_exceeded' },
			headers: { 'retry-after': '1' },
		});
	const control = createServer(({ url = '' }, response) => {
		const name = url.slice(1);
		if (name === 'refuse') refuse();
		response.end(JSON.stringify(name === 'refuse' ? {} : tallies[name as GatewayName].take()));
	});
	await once(control.listen(0, '127.0.0.1'), 'listening');
	return {
		gateways: ofEach(({ url, backupUrl, apiKey }) => ({ url, backupUrl, apiKey })),
		alibaba: {
			videos: (await serveAlibaba(gateways.videos)).url,
			aside: (await serveAlibaba(gateways.aside)).url,
			files: (await serveAlibaba(gateways.files, { isFinished: true })).url,
		},
		videoBytes: video.length,
		files: { small: finished(20e6), large: finished(400e6), huge: finished(4e9) },
		controlUrl: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
	};
}

// The parent takes the times from here, too.
if (require.main === module) reportTo(serve);
