import type { IDataObject } from 'n8n-workflow';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { runWorkflow, type WorkflowRun } from '../harness';
import { answer, startServer, type Reply } from '../support/http/scriptedServer';
import { byId, chain, modelGateway } from '../support/workflows/workflows';
import { asking, itemText, registerUsers } from './operations';

const folder = path.join(__dirname, 'streams');
const streams = readdirSync(folder).filter((name) => name.endsWith('.txt'));
const headers = { 'content-type': 'text/event-stream' };

/** Sends each piece of this many bytes by itself. */
const inPieces =
	(text: string, length: number): Reply =>
	async (response) => {
		response.writeHead(200, headers);
		response.socket?.setNoDelay(true);
		const bytes = Buffer.from(text);
		for (let at = 0; at < bytes.length; at += length) {
			response.write(bytes.subarray(at, at + length));
			await setImmediate();
		}
		response.end();
	};

/** How a stream may arrive. */
const ways: Array<{ way: string; send: (text: string) => Reply }> = [
	{ way: 'as it is', send: (text) => answer(200, text, headers) },
	{ way: 'in pieces of 7 bytes', send: (text) => inPieces(text, 7) },
	{ way: 'with CRLF', send: (text) => inPieces(text.replaceAll('\n', '\r\n'), 50) },
	{
		way: 'without [DONE]',
		send: (text) => answer(200, text.replace('data: [DONE]\n\n', ''), headers),
	},
];

const tools = JSON.stringify([
	{
		type: 'function',
		function: {
			name: 'Create_video',
			parameters: { type: 'object', properties: { prompt: { type: 'string' } } },
		},
	},
]);

const chat = modelGateway(
	{
		...{ resource: 'chat', operation: 'complete', model: byId('chat-1'), simplify: false },
		messages: { values: [{ role: 'user', content: 'Hello' }] },
		options: { stream: true },
	},
	{ name: 'Node' },
);

interface Answer {
	text: string;
	calls: Array<{ name: string; input: unknown }>;
}

/** A completion of the service. */
function ofCompletion({ json }: { json: IDataObject }): Answer {
	const [{ message }] = json.choices as [
		{
			message: {
				content: string | Array<{ type: string; text?: string }> | null;
				tool_calls?: Array<{ function: { name: string; arguments: string } }>;
			};
		},
	];
	const { content, tool_calls: calls = [] } = message;
	const parts = Array.isArray(content) ? content.map(({ text = '' }) => text) : [content ?? ''];
	return {
		text: parts.join(''),
		calls: calls.map((call) => ({
			name: call.function.name,
			input: JSON.parse(call.function.arguments) as unknown,
		})),
	};
}

/** What an AI node gets from the chat model. */
function ofModel({ json }: { json: IDataObject }): Answer {
	const { content, tool_calls: calls } = json as {
		content: string;
		tool_calls: Array<{ name: string; args: unknown }>;
	};
	return { text: content, calls: calls.map(({ name, args }) => ({ name, input: args })) };
}

const users = [
	{ user: 'Chat: Complete', workflow: chain(chat), read: ofCompletion },
	{ user: 'the chat model', workflow: asking({ streams: true, tools }), read: ofModel },
];

/** What every stream says: the text, or that a video of a boat is to be made, and some also of a kite. */
function expectedOf(text: string): Answer {
	const prompts = ['A boat', 'A kite'].filter((prompt) => text.includes(prompt.slice(2)));
	return {
		text: text.includes(' walk') ? itemText : '',
		calls: prompts.map((prompt) => ({ name: 'Create_video', input: { prompt } })),
	};
}

beforeAll(registerUsers);

describe.each(streams)('the stream %s', (name) => {
	const stream = readFileSync(path.join(folder, name), 'utf8');

	describe.each(users)('read by $user', ({ workflow, read }) => {
		it.each(ways)('gives its text and its tool calls: $way', async ({ send }) => {
			const server = await startServer(send(stream));
			const run: WorkflowRun = await runWorkflow(workflow, {
				credentials: { modelGatewayApi: { apiKey: 'sk-0123456789', baseUrl: server.url } },
				input: [{ json: { text: 'Hello' } }],
			});
			expect(run.errorOf('Node')?.message).toBeUndefined();
			expect(read(run.items('Node')[0])).toEqual(expectedOf(stream));
		});
	});
});
