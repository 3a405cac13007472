import type { Gateway } from '../client/gateway';
import { jobLinkCarriesKey } from '../errors/jobErrors';
import { shownId } from '../errors/jobSummary';
import { endpoints } from '../protocol/endpoints';
import { jobKinds, type JobKind } from '../protocol/jobs';
import { parserForJob } from './jobIdentity';
import { jobStatus, videoContent, type JobStatus, type VideoContent } from './responses';
import type { JobSource } from './wait';

interface JobRequest {
	id: string;
	/** Milliseconds for one try. Default: the endpoint's. */
	timeout?: number;
	/** For the requests of a wait: their next try is its next poll. */
	once?: boolean;
	patience?: number;
}

/** Gets the status of a job ("Endpoints" 2 and 12). @throws GatewayError */
export async function getJobStatus(
	gateway: Gateway,
	{ kind, id, ...options }: JobRequest & { kind: JobKind },
): Promise<JobStatus> {
	return await gateway.call({
		endpoint: jobKinds[kind].endpoint,
		purpose: `get the status of job ${shownId(id)}`,
		id,
		...options,
		parse: parserForJob({ source: kind, id }, jobStatus),
	});
}

/** Finds the file of a finished video job ("Endpoints" 13). @throws GatewayError also when its link carries the key */
export async function getVideoContent(
	gateway: Gateway,
	{ id, ...options }: JobRequest,
): Promise<VideoContent> {
	const content = await gateway.call({
		endpoint: endpoints.videoContent,
		purpose: `get the content of the video ${shownId(id)}`,
		id,
		...options,
		mayLeadToFile: true,
		parse: parserForJob({ source: 'content', id }, videoContent),
	});
	if (content.linkCarriesKey) throw jobLinkCarriesKey({ id, kind: 'video' });
	return content;
}

export function jobSource(gateway: Gateway): JobSource {
	return {
		poll: async (kind, id, options) =>
			await getJobStatus(gateway, { kind, id, ...options, once: true }),
		content: async (id) => await getVideoContent(gateway, { id, once: true }),
	};
}
