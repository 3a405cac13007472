import type { Redaction } from '../client/redaction';
import { UnusableResponse, type ServiceResponse } from '../client/response';
import { asIndex, isObject, parseJson, type JsonObject } from '../json';
import { brokeOffWithError, errorIn } from './answerError';
import { textOf } from './completion';
import { EventParser } from './eventStream';
import { defineField, mergeInto } from './fragments';
import { unstreamed } from './streamedCompletion';

/**
 * A response of "Endpoints" 5 as JSON, although some servers send it as events without being asked. The specification
 * shows none; read are chunks of a chat completion, and the events that endpoints of this kind send.
 * @throws UnusableResponse when the stream broke off, or the response is neither JSON nor a stream
 */
export function unstreamedMessage(
	response: ServiceResponse,
	redaction: Redaction,
): ServiceResponse {
	if (isObject(response.json)) return response;
	const parser = new EventParser();
	const events = [...parser.push(response.text), ...parser.end()]
		.map(({ data }) => parseJson(data))
		.filter(isObject);
	if (!events.some(({ type }) => /^(message|content_block)_/.test(String(type))))
		return unstreamed(response, redaction);
	const assembled = messageOf(events, response);
	const json = redaction.json(assembled);
	return { ...response, json, isRedacted: response.isRedacted || json !== assembled };
}

function messageOf(events: JsonObject[], { broken }: ServiceResponse): JsonObject {
	const fields: JsonObject = {};
	const parts = new Map<number, JsonObject>();
	let isEnded = false;
	let error: unknown;
	for (const event of events) {
		const { type, message, delta, usage, content_block: block } = event;
		const place = asIndex(event.index) ?? 0;
		error ??= errorIn(event);
		isEnded ||= type === 'message_stop';
		if (type === 'message_start' && isObject(message)) mergeInto(fields, message);
		if (type === 'content_block_start' && isObject(block)) parts.set(place, { ...block });
		if (isObject(usage)) mergeInto(fields, { usage });
		if (type === 'message_delta' && isObject(delta)) mergeInto(fields, delta);
		if (type === 'content_block_delta' && isObject(delta)) {
			const part = parts.get(place) ?? { type: 'text' };
			parts.set(place, part);
			append(part, delta);
		}
	}
	const content = [...parts.values()].map(withInput);
	const text = textOf({ content });
	if (error !== undefined) throw brokeOffWithError(error, text);
	if (!isEnded && typeof fields.stop_reason !== 'string')
		throw new UnusableResponse(`broke off: ${broken ?? 'the stream ended too early'}`, text);
	return { ...fields, content };
}

/** Adds the texts of a delta to a part of the content. */
function append(part: JsonObject, delta: JsonObject): void {
	for (const [name, value] of Object.entries(delta)) {
		const before = Object.hasOwn(part, name) ? part[name] : undefined;
		if (name !== 'type' && typeof value === 'string')
			defineField(part, name, typeof before === 'string' ? before + value : value);
	}
}

/** The input of a tool call, which arrives as the pieces of a JSON text. */
function withInput({ partial_json: json, ...part }: JsonObject): JsonObject {
	return typeof json === 'string' ? { ...part, input: parseJson(json) ?? json } : part;
}
