import fastify from 'fastify';
import type { Gateway } from '../../gateway';

/** Marks the adaptor's own requests, which no node has sent. */
export const adaptorHeader = 'x-adaptor';

/** The states of a task at Alibaba Cloud, by the state of a video job. */
const states: Record<string, string> = {
	queued: 'PENDING',
	processing: 'RUNNING',
	completed: 'SUCCEEDED',
	failed: 'FAILED',
};

/**
 * Serves the paths that n8n's Alibaba Cloud node uses for videos. Each request becomes one to the gateway, which makes
 * the same videos in the same time as for the other nodes.
 * @param isFinished whether the prompts are IDs of finished jobs, so that nothing is ordered
 */
export async function serveAlibaba(
	{ url, apiKey }: Gateway,
	{ isFinished = false } = {},
): Promise<{ url: string; close(): Promise<void> }> {
	const ask = async (path: string, request: RequestInit & { headers?: object } = {}) => {
		const authorization = `Bearer ${apiKey}`;
		const response = await fetch(`${url}/v1/videos${path}`, {
			...request,
			headers: { authorization, 'content-type': 'application/json', ...request.headers },
		});
		if (!response.ok) throw new Error(`The gateway responded with ${response.status}`);
		return (await response.json()) as Record<string, string>;
	};
	const order = async (prompt: string) => {
		const body = JSON.stringify({ model: 'vid-3.1', prompt });
		return (await ask('', { method: 'POST', body })).id;
	};

	const server = fastify({ forceCloseConnections: true });
	server.post<{ Body: { input: { prompt: string } } }>(
		'/api/v1/services/aigc/video-generation/video-synthesis',
		async ({ body: { input }, id }) => ({
			output: {
				task_id: isFinished ? input.prompt : await order(input.prompt),
				task_status: 'PENDING',
			},
			request_id: id,
		}),
	);
	server.get<{ Params: { id: string } }>('/api/v1/tasks/:id', async ({ params, id }) => {
		const { status } = await ask(`/${params.id}`);
		const output = { task_id: params.id, task_status: states[status] };
		if (status !== 'completed') return { output, request_id: id };
		const content = await ask(`/${params.id}/content`, { headers: { [adaptorHeader]: '1' } });
		return { output: { ...output, video_url: content.url }, request_id: id };
	});
	const address = await server.listen({ host: '127.0.0.1', port: 0 });
	return { url: address, close: async () => await server.close() };
}
