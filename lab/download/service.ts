/** Runs in its own process: the gateway, with a small and a large finished video. */
import { startGateway } from '../../gateway';
import { earlierJob } from '../../test/support/workflows/earlierJobs';
import { serveLargeVideos, videoHeader } from '../largeVideos';

/** A finished video, as an item of a workflow. */
export interface FinishedVideo {
	task_id: string;
	/** URL of the file, for a node that knows nothing about tasks. */
	url: string;
	bytes: number;
}

export type Service = Awaited<ReturnType<typeof serve>>;

export async function serve() {
	const { urlOf } = await serveLargeVideos();
	const gateway = await startGateway();
	const finishedVideo = (bytes: number): FinishedVideo => {
		const { id } = earlierJob(gateway, 'task', videoHeader);
		const url = urlOf(bytes);
		gateway.fault({
			route: 'download',
			times: Infinity,
			when: ({ jobId }) => jobId === id,
			action: 'answer',
			status: 302,
			headers: { location: url },
		});
		return { task_id: id, url, bytes };
	};
	const { url, apiKey } = gateway;
	return { url, apiKey, small: finishedVideo(1e6), large: finishedVideo(1e9) };
}
