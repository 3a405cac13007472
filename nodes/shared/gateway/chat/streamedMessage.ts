import { UnusableResponse, type ServiceResponse } from '../client/response';
import { asIndex, isObject, parseJson, type JsonObject } from '../json';
import { brokeOffWithError, errorIn } from './answerError';
import { textOf } from './completion';
import { EventParser, piecesOf, type StreamEvent } from './eventStream';
import { defineField, KeptParts, mergeInto } from './fragments';
import { unstreamed, type ReadingGateway } from './streamedCompletion';

/**
 * A response of "Endpoints" 5 as JSON, although some servers send it as events without being asked. The specification
 * shows none; read are chunks of a chat completion, and the events that endpoints of this kind send.
 * @throws UnusableResponse when the stream broke off, or the response is neither JSON nor a stream
 */
export async function unstreamedMessage(
	response: ServiceResponse,
	gateway: ReadingGateway,
): Promise<ServiceResponse> {
	if (isObject(response.json)) return response;
	const parser = new EventParser();
	const message = new StreamedMessage();
	for await (const piece of piecesOf(response.text, gateway.runtime.clock)) {
		message.add(parser.push(piece));
		if (message.isExcessive) break;
	}
	message.add(parser.end());
	if (!message.hasBegun) return await unstreamed(response, gateway);
	const assembled = message.finish(response);
	const json = gateway.redaction.json(assembled);
	return { ...response, json, isRedacted: response.isRedacted || json !== assembled };
}

/** A message that is assembled from its events. */
class StreamedMessage {
	/** Whether there was an event of a message. */
	hasBegun = false;
	private readonly fields: JsonObject = {};
	private readonly parts = new Map<number, JsonObject>();
	private isEnded = false;
	private error: unknown;
	private readonly kept = new KeptParts();

	/** Whether it has more in it than any message. The rest is ignored. */
	get isExcessive(): boolean {
		return this.kept.areTooMany;
	}

	add(events: StreamEvent[]): void {
		for (const { data } of events) {
			if (this.isExcessive) return;
			const event = parseJson(data);
			if (isObject(event)) this.addEvent(event);
		}
	}

	finish({ broken }: ServiceResponse): JsonObject {
		const { fields, error, isEnded } = this;
		const content = [...this.parts.values()].map(withInput);
		const text = textOf({ content });
		if (error !== undefined) throw brokeOffWithError(error, text);
		if (this.isExcessive)
			throw new UnusableResponse('has more parts in it than any message needs', text);
		if (!isEnded && typeof fields.stop_reason !== 'string')
			throw new UnusableResponse(`broke off: ${broken ?? 'the stream ended too early'}`, text);
		return { ...fields, content };
	}

	private addEvent(event: JsonObject): void {
		const { fields, parts, kept } = this;
		const { type, message, delta, usage, content_block: block } = event;
		const place = asIndex(event.index) ?? 0;
		this.hasBegun ||= /^(message|content_block)_/.test(String(type));
		this.error ??= errorIn(event);
		this.isEnded ||= type === 'message_stop';
		if (type === 'message_start' && isObject(message)) mergeInto(fields, message, kept);
		if (type === 'content_block_start' && isObject(block)) {
			kept.add();
			parts.set(place, { ...block });
		}
		if (isObject(usage)) mergeInto(fields, { usage }, kept);
		if (type === 'message_delta' && isObject(delta)) mergeInto(fields, delta, kept);
		if (type === 'content_block_delta' && isObject(delta)) {
			const part = parts.get(place) ?? { type: 'text' };
			parts.set(place, part);
			append(part, delta, kept);
		}
	}
}

/** Adds the texts of a delta to a part of the content. */
function append(part: JsonObject, delta: JsonObject, kept: KeptParts): void {
	for (const [name, value] of Object.entries(delta)) {
		const before = Object.hasOwn(part, name) ? part[name] : undefined;
		if (before === undefined) kept.add();
		if (name !== 'type' && typeof value === 'string')
			defineField(part, name, typeof before === 'string' ? before + value : value);
	}
}

/** The input of a tool call, which arrives as the pieces of a JSON text. */
function withInput({ partial_json: json, ...part }: JsonObject): JsonObject {
	return typeof json === 'string' ? { ...part, input: parseJson(json) ?? json } : part;
}
