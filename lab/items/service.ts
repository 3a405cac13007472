/** Runs in its own process: a server that responds to chats and embeddings as fast as Node.js can. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Target } from '../requests/nodes';

/** The usual length of a vector. */
const dimensions = 1536;

const usage = { prompt_tokens: 12, completion_tokens: 40, total_tokens: 52 };
const content =
	'It is the smallest number of its kind, and people have told stories about it for a long time.';
const chat = JSON.stringify({
	id: 'chat-1',
	object: 'chat.completion',
	created: 1_700_000_000,
	model: 'chat-1',
	usage,
	choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
});

const vector = Array.from({ length: dimensions }, (_, place) => Math.sin(place + 1) / 40);
const bodies = new Map<number, string>();

/** The response for this many texts, which is made only once. */
function embeddings(count: number): string {
	const made = bodies.get(count);
	if (made !== undefined) return made;
	const data = Array.from({ length: count }, (_, index) => ({
		object: 'embedding',
		index,
		embedding: vector,
	}));
	const body = JSON.stringify({ object: 'list', data, model: 'embed-1', usage });
	bodies.set(count, body);
	return body;
}

async function responseTo(request: IncomingMessage): Promise<string> {
	const { input } = (await json(request)) as { input?: string | string[] };
	return input === undefined ? chat : embeddings([input].flat().length);
}

export async function serve(): Promise<Target> {
	const server = createServer((request, response) => {
		void responseTo(request).then((body) => {
			response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req-1' });
			response.end(body);
		});
	});
	await once(server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }), 'listening');
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}`, apiKey: 'sk-bench-0123456789' };
}
