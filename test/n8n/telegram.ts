import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { until } from '../support/time/until';
import { fetchPublished } from './owner';

/** A message that a bot has sent into a chat. */
export interface Sent {
	chat: number;
	/** The text of a message, or the caption of a video. */
	text: string;
	/** The ID of the message that it replies to. */
	replyTo?: number;
	video?: Uint8Array;
}

/** A message of a person, as Telegram hands it to the bot. */
export interface Update {
	update_id: number;
	message: { message_id: number; chat: { id: number; type: 'private' }; text?: string };
}

/** A stand-in for Telegram's Bot API on loopback, for one bot. */
export interface Telegram {
	/** The data of n8n's credential type `telegramApi`. */
	readonly credential: Record<string, string>;
	/** In the order in which it arrived. */
	readonly sent: readonly Sent[];
	/** Hands an update to the bot, once it has set its webhook. @throws Error when the bot refuses it */
	deliver(update: Update): Promise<void>;
	close(): Promise<void>;
}

export async function openTelegram(): Promise<Telegram> {
	const accessToken = '123456:for-tests';
	const sent: Sent[] = [];
	let webhook = { url: '', secret_token: '' };

	const resultOf = async (method: string, request: IncomingMessage) => {
		const fields = await fieldsOf(request);
		if (method === 'setWebhook') webhook = fields as typeof webhook;
		if (method === 'getWebhookInfo') return { url: webhook.url };
		if (method !== 'sendMessage' && method !== 'sendVideo') return true;
		const { chat_id, text, caption, reply_to_message_id, video } = fields;
		sent.push({
			chat: Number(chat_id),
			text: String(text ?? caption),
			...(reply_to_message_id !== undefined && { replyTo: Number(reply_to_message_id) }),
			...(video instanceof Blob && { video: new Uint8Array(await video.arrayBuffer()) }),
		});
		return { message_id: 1_000 + sent.length, chat: { id: Number(chat_id) } };
	};
	const server = createServer((request, response) => {
		const [, method] = /^\/bot123456:for-tests\/(\w+)$/.exec(request.url ?? '') ?? [];
		const answer = (status: number, body: object) =>
			response
				.writeHead(status, { 'content-type': 'application/json' })
				.end(JSON.stringify({ ok: status === 200, ...body }));
		if (method === undefined) return void answer(404, { description: 'Not Found' });
		resultOf(method, request).then(
			(result) => answer(200, { result }),
			(error: Error) => answer(400, { description: error.message }),
		);
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return {
		credential: { accessToken, baseUrl },
		sent,
		async deliver(update) {
			await until(() => webhook.url !== '');
			const { status } = await fetchPublished(webhook.url, {
				method: 'POST',
				headers: {
					'content-type': 'application/json',
					connection: 'close',
					'x-telegram-bot-api-secret-token': webhook.secret_token,
				},
				body: JSON.stringify(update),
			});
			if (status !== 200) throw new Error(`The bot gave ${status} for update ${update.update_id}`);
		},
		async close() {
			server.close();
			server.closeAllConnections();
		},
	};
}

/** The fields of a request, as JSON or as a form with files. */
async function fieldsOf(request: IncomingMessage): Promise<Record<string, unknown>> {
	const type = request.headers['content-type'] ?? '';
	const body = await buffer(request);
	if (body.length === 0) return {};
	const response = new Response(body, { headers: { 'content-type': type } });
	return type.startsWith('multipart/')
		? Object.fromEntries(await response.formData())
		: ((await response.json()) as Record<string, unknown>);
}
