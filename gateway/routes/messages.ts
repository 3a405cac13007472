import type { FastifyInstance } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { endpoints } from '../../nodes/shared/service/protocol/endpoints';
import { usageOf } from '../chat/completion';
import { readMessages } from '../chat/messages';
import { refuseForReasoning, type ChatOrder } from '../chat/order';
import type { Reply } from '../chat/reply';
import { readResponseFormat } from '../chat/responseFormat';
import { writeReplies } from '../chat/writing';
import { invalidParameter } from '../errors';
import { readFields, readObject } from '../fields';
import { findModel, messageModels } from '../models';
import { begin, type Service } from '../service';
import { serve } from './endpoint';

/** "Endpoints" 5: native messages. The response is not shown, so it has the form of the wire format. */
export function messageRoutes(api: FastifyInstance, service: Service): void {
	serve(api, 'message', async (request) => {
		requireVersion(request.headers);
		const order = readOrder(request.body);
		const { model, messages } = order;
		await begin(service, request, model);
		const [reply] = await writeReplies(service, order, request.over);
		const usage = usageOf(messages, [reply]);
		request.purchase = { kind: 'message', model, quantity: usage.total_tokens, unit: 'token' };
		return {
			id: request.id,
			type: 'message',
			role: 'assistant',
			model,
			content: [{ type: 'text', text: reply.text }],
			stop_reason: stopReasons[reply.finishReason],
			usage: { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens },
		};
	});
}

const stopReasons: Record<Reply['finishReason'], string> = {
	stop: 'end_turn',
	length: 'max_tokens',
	content_filter: 'refusal',
	function_call: 'tool_use',
	tool_calls: 'tool_use',
};

/** "Versioning" 3: the end of the header's name, which begins with the vendor. */
const suffix = '-version';

function requireVersion(headers: IncomingHttpHeaders): void {
	const isDate = (text: string) =>
		/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
	const hasVersion = Object.entries(headers).some(
		([name, value]) => name.endsWith(suffix) && isDate(String(value)),
	);
	if (!hasVersion) throw invalidParameter(`<vendor>${suffix}`, 'sent as a header, with a date');
}

const { fields } = endpoints.message;
/** The specification does not show which fields are required. The wire format requires `max_tokens`. */
const table = {
	...fields,
	model: { ...fields.model, required: true },
	max_tokens: { ...fields.max_tokens, required: true, min: 1 },
} as const;

function readOrder(value: unknown): ChatOrder {
	const body = readObject(value, 'body');
	const { model, max_tokens: maxTokens, messages: given } = readFields(table, body);
	const series = findModel(messageModels, model);
	const messages = readMessages(given);
	if (series === 'reasoning') refuseForReasoning(body, messages);
	return {
		model,
		series,
		messages,
		choices: 1,
		maxTokens,
		stops: [],
		tools: [],
		format: readResponseFormat(undefined, messages),
		isStream: false,
	};
}
