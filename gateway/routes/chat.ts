import type { FastifyInstance } from 'fastify';
import { Readable } from 'node:stream';
import type { Purchase } from '../accounts';
import { usageOf, wordCompletion, type Usage } from '../chat/completion';
import { drawReplies } from '../chat/drawing';
import { readChatOrder, type ChatOrder } from '../chat/order';
import type { Reply } from '../chat/reply';
import { streamCompletion } from '../chat/stream';
import { writeReplies } from '../chat/writing';
import { begin, type Service } from '../service';
import { serve } from './endpoint';

/** "Endpoints" 4 and 10: chat completions, and the image models that are reached through them. */
export function chatRoutes(api: FastifyInstance, service: Service): void {
	serve(api, 'chat', async (request, reply) => {
		const order = readChatOrder(request.body);
		const { model, series, messages, isStream } = order;
		await begin(service, request, model);
		const replies =
			series === 'image'
				? await drawReplies(service, order, request.over)
				: await writeReplies(service, order, request.over);

		const usage = usageOf(messages, replies);
		request.purchase = purchaseOf(order, replies, usage);
		const created = Math.floor(service.now() / 1000);
		const completion = { id: request.id, created, model, replies, usage };
		if (!isStream) return wordCompletion(completion);

		reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-cache');
		return Readable.from(streamCompletion(completion, service.tokenMilliseconds));
	});
}

/** "What the service does", billing rule 1. Text alone costs nothing where the price is per image. */
function purchaseOf(
	{ model, series }: ChatOrder,
	replies: Reply[],
	{ total_tokens: tokens }: Usage,
): Purchase | undefined {
	if (series !== 'image') return { kind: 'chat', model, quantity: tokens, unit: 'token' };
	const quantity = replies.filter(({ picture }) => picture).length;
	return quantity > 0 ? { kind: 'image', model, quantity, unit: 'image' } : undefined;
}
