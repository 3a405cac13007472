import type { IDataObject, INode, StructuredChunk } from 'n8n-workflow';
import { runWorkflow } from '../../harness';
import {
	answer,
	json,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../../support/http/scriptedServer';
import { byId, chain, modelGateway } from '../../support/workflows/workflows';

const key = 'sk-streamed-0123456789';
const done = 'data: [DONE]\n\n';
const eventOf = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\n\n`;
const content = (text: string) => eventOf({ choices: [{ index: 0, delta: { content: text } }] });
const streamOf = (...pieces: string[]): Reply =>
	answer(200, pieces.join(''), { 'content-type': 'text/event-stream' });

describe('streamed chats', () => {
	const chat = (settings: Partial<INode> = {}, options: IDataObject = {}) =>
		modelGateway(
			{
				...{ resource: 'chat', operation: 'complete', model: byId('chat-1') },
				messages: { values: [{ role: 'user', content: 'Hello' }] },
				options: { stream: true, ...options },
			},
			{ name: 'Chat', ...settings },
		);

	const run = async (server: ScriptedServer, node = chat()) => {
		const chunks: StructuredChunk[] = [];
		const result = await runWorkflow(chain(node), {
			credentials: { modelGatewayApi: { apiKey: key, baseUrl: server.url } },
			onChunk: (chunk) => void chunks.push(chunk),
		});
		const texts = chunks.filter(({ type }) => type === 'item').map((chunk) => chunk.content);
		return { result, chunks, live: texts.join('') };
	};

	it.each([
		['in two chunks', [content(key.slice(0, 9)), content(`${key.slice(9)}.`)]],
		['cut in the middle', [content(key.slice(0, 15))]],
		['in an excerpt of the stream', [content('Hi'), `data: ${'y'.repeat(110)}${key}\n\n`, done]],
	])('redacts the key in a stream that fails: %s', async (_, pieces) => {
		const server = await startServer(streamOf(...pieces));
		const { result, live } = await run(server);
		expect(result.status).toBe('error');
		const shown = JSON.stringify(result.data.resultData) + live;
		for (const part of [key.slice(0, 9), key.slice(9)]) expect(shown).not.toContain(part);
	});

	it('ends a stream at [DONE] although the connection stays open', async () => {
		const server = await startServer((response) => {
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			response.write(`${content('Hi')}${done}`);
		});
		const { result } = await run(server);
		expect(result.items('Chat')[0].json.text).toBe('Hi');
		await server.idle();
	});

	it('passes the text on live even if the server responds in one piece', async () => {
		const server = await startServer(
			json({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }),
		);
		const { chunks, live } = await run(server);
		expect(chunks.map(({ type }) => type)).toEqual(['begin', 'item', 'end']);
		expect(live).toBe('Hi');
	});
});
