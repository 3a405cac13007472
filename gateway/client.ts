import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import { once } from 'node:events';
import type { Gateway, Job } from '.';
import { asyncHeader, endpoints } from '../nodes/shared/service/protocol/endpoints';
import { isFinal } from '../nodes/shared/service/protocol/jobs';

/** A plain client for the gateway's own tests. It accepts every status. */
export function clientOf(
	{ url, apiKey }: Pick<Gateway, 'url' | 'apiKey'>,
	key = apiKey,
): AxiosInstance {
	return axios.create({
		baseURL: url,
		headers: { authorization: `Bearer ${key}` },
		proxy: false,
		validateStatus: () => true,
	});
}

/** Fetches the bytes of a link without a key. It accepts every status. */
export async function download(
	url: string,
	headers: Record<string, string> = {},
): Promise<AxiosResponse<Buffer>> {
	return await axios.get(url, {
		headers,
		proxy: false,
		responseType: 'arraybuffer',
		validateStatus: () => true,
	});
}

export async function createTask(client: AxiosInstance, body: unknown): Promise<AxiosResponse> {
	return await client.post(endpoints.referenceVideoCreate.path, body, {
		headers: { [asyncHeader.name]: asyncHeader.value, 'content-type': 'application/json' },
	});
}

/** Waits for a job to end. */
export async function ended(gateway: Gateway, id: string): Promise<Job> {
	const job = gateway.jobs.get(id);
	if (!job) throw new Error(`No job has the id ${id}`);
	while (!isFinal(job.phase)) await once(gateway, 'job');
	return job;
}
