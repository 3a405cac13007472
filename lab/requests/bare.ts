import axios from 'axios';
import { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import { chatModel, textOf, type Target } from './nodes';

/** One chat, without n8n and without this package. */
async function bareChat(target: Target, index: number, httpAgent?: Agent): Promise<void> {
	const [url, body, config] = requestFor(target, index);
	const { data } = await axios.post<{ choices: unknown[] }>(url, body, { ...config, httpAgent });
	if (data.choices.length !== 1) throw new Error('The chat has no answer');
}

/** Sends many chats, with this many in flight. */
export async function bareChats(
	target: Target,
	{ items, parallel, keepAlive }: { items: number; parallel: number; keepAlive: boolean },
): Promise<void> {
	const agent = new Agent({ keepAlive });
	let next = 0;
	const lane = async () => {
		while (next < items) await bareChat(target, next++, agent);
	};
	await Promise.all(Array.from({ length: parallel }, lane));
	agent.destroy();
}

/** Reads a streamed chat to its end. @returns the milliseconds until its first token */
export async function bareFirstToken(target: Target): Promise<number> {
	const start = performance.now();
	const [url, body, config] = requestFor(target, 0);
	const { data } = await axios.post<Readable>(
		url,
		{ ...body, stream: true },
		{ ...config, responseType: 'stream' },
	);
	let first: number | undefined;
	for await (const piece of data) {
		if (String(piece).includes('"content":')) first ??= performance.now() - start;
	}
	if (first === undefined) throw new Error('The stream has no text');
	return first;
}

const requestFor = ({ url, apiKey }: Target, index: number) =>
	[
		`${url}/v1/chat/completions`,
		{ model: chatModel, messages: [{ role: 'user', content: textOf(index) }] },
		{ headers: { Authorization: `Bearer ${apiKey}` } },
	] as const;
