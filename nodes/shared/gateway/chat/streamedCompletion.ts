import {
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ServiceResponse,
} from '../client/response';
import { readErrorObject } from '../errors/errorObject';
import { asIndex, asText, excerpt, isObject, parseJson, valueAt, type JsonObject } from '../json';
import { streamEnd } from '../protocol/chat';
import { textOf, type Choice, type Completion } from './completion';
import { EventParser, type StreamEvent } from './eventStream';

/** Assembles a streamed completion ("Endpoints" 4, streaming) while its text is passed on live. */
export class StreamedCompletion {
	private readonly parser = new EventParser();
	private readonly fields: JsonObject = {};
	private readonly choices = new Map<number, Choice>();
	private hasChunks = false;
	private error: unknown;
	/** The first text in the stream that is not an event of the completion. */
	private strayText?: string;
	private endMarkSeen = false;

	/**
	 * @param count number of choices requested
	 * @param redact removes the API key from what errors quote
	 */
	constructor(
		private readonly count = 1,
		private readonly redact = (text: string) => text,
	) {}

	/** @returns the text that this chunk adds to the first choice */
	push(text: string): string {
		return this.parser
			.push(text)
			.map((event) => this.readEvent(event))
			.join('');
	}

	/** Whether the end mark has arrived; anything after it is ignored. */
	get hasEndMark(): boolean {
		return this.endMarkSeen;
	}

	/** The text of all choices received so far, in the order in which they began. */
	get text(): string {
		const texts = [...this.choices.values()].map(({ message }) => textOf(message));
		return texts.filter((text) => text !== '').join('\n\n');
	}

	/** The completion, once the stream has ended. @throws UnusableResponse when it broke off */
	finish(response: ServiceResponse): Completion {
		const { strayText } = this;
		// Read first: an event that the end of the stream cut off is not stray text.
		for (const event of this.parser.end()) this.readEvent(event);
		const { error, text } = this;
		if (error !== undefined) {
			const message =
				readErrorObject({ error })?.message ?? excerpt(this.redact(JSON.stringify(error)));
			throw new UnusableResponse(`broke off with an error: ${message}`, text, error);
		}
		if (!this.hasChunks && !this.hasEndMark)
			throw new UnusableResponse(describeBody(response), text);
		if (strayText !== undefined) {
			throw new UnusableResponse(
				`is missing a part; this came instead: ${excerpt(this.redact(strayText), 120)}`,
				text,
			);
		}
		const choices = [...this.choices.values()].sort((a, b) => a.index - b.index);
		// Some servers omit the end mark; choices that all have a finish reason are complete nonetheless.
		const areFinished =
			choices.length >= this.count &&
			choices.every(({ finish_reason: reason }) => reason !== undefined);
		if (choices.length === 0 || !(this.hasEndMark || areFinished))
			throw new UnusableResponse(
				response.excess ?? `broke off: ${response.broken ?? 'the stream ended too early'}`,
				text,
			);
		for (const { message } of choices) {
			const { tool_calls: toolCalls } = message;
			// Indexes that no call used leave holes in the list.
			if (Array.isArray(toolCalls))
				message.tool_calls = toolCalls.filter((call) => call !== undefined);
		}
		return { ...withRequestIds(this.fields, response), object: 'chat.completion', choices };
	}

	private readEvent({ name, data }: StreamEvent): string {
		if (this.hasEndMark || data.trim() === '') return '';
		if (data.trim() === streamEnd) {
			this.endMarkSeen = true;
			return '';
		}
		const chunk = parseJson(data);
		this.hasChunks ||= isObject(chunk);
		if (name === 'error') this.error = valueAt(chunk, 'error') ?? chunk ?? data;
		else if (chunk === undefined && !isHeartbeat({ name, data })) this.strayText ??= data;
		if (!isObject(chunk)) return '';
		if (chunk.error) this.error = chunk.error;
		else if (chunk.type === 'error') this.error = chunk;
		for (const [name, value] of Object.entries(chunk)) {
			if (name !== 'choices' && name !== 'object' && value !== null)
				defineField(this.fields, name, value);
		}
		const deltas = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
		return deltas.map((choiceDelta) => this.applyDelta(choiceDelta)).join('');
	}

	private applyDelta(choiceDelta: JsonObject): string {
		const index = asIndex(choiceDelta.index) ?? 0;
		const choice = this.choices.get(index) ?? {
			index,
			message: { role: 'assistant', content: '' },
		};
		this.choices.set(index, choice);
		// Some servers send an empty finish reason until the end.
		choice.finish_reason = asText(choiceDelta.finish_reason) ?? choice.finish_reason;
		const delta = isObject(choiceDelta.delta) ? choiceDelta.delta : {};
		for (const [name, value] of Object.entries(delta)) {
			if (name === 'tool_calls') mergeToolCalls(choice.message, value);
			else if (name === 'function_call')
				choice.message[name] = mergeFragment(choice.message[name], value);
			else if (name === 'content')
				choice.message.content = `${textOf(choice.message)}${textOf({ content: value })}`;
			else if (value !== null) {
				// Reasoning and refusals are streamed too, so they are appended; some servers repeat the role in each chunk.
				const before = choice.message[name];
				const appends = name !== 'role' && typeof before === 'string' && typeof value === 'string';
				defineField(choice.message, name, appends ? before + value : value);
			}
		}
		const [first] = this.choices.keys();
		return index === first ? textOf({ content: delta.content }) : '';
	}
}

/** Some servers keep the connection alive with events of other names, or with a single word. */
function isHeartbeat({ name, data }: StreamEvent): boolean {
	const isNamed = name !== '' && name !== 'message';
	return isNamed || /^(ping|pong|heartbeat|keep-?alive)$/i.test(data.trim());
}

/** Assigns a field even when its name is `__proto__`. */
function defineField(object: JsonObject, name: string, value: unknown): void {
	Object.defineProperty(object, name, {
		value,
		writable: true,
		enumerable: true,
		configurable: true,
	});
}

const maxToolCalls = 1000;

/** Tool calls are streamed in fragments, each of which belongs to the call at its index. */
function mergeToolCalls(message: JsonObject, fragments: unknown): void {
	const toolCalls = (Array.isArray(message.tool_calls) ? message.tool_calls : []) as unknown[];
	for (const fragment of Array.isArray(fragments) ? fragments.filter(isObject) : []) {
		const { index, ...rest } = fragment;
		const callIndex = asIndex(index) ?? Infinity;
		const position = callIndex < maxToolCalls ? callIndex : toolCalls.length;
		toolCalls[position] = mergeFragment(toolCalls[position], rest);
	}
	message.tool_calls = toolCalls;
}

/** Merges a fragment into an object: `arguments` are appended, every other value is replaced. */
function mergeFragment(before: unknown, fragment: unknown): unknown {
	if (!isObject(fragment)) return fragment ?? before;
	const base = isObject(before) ? before : {};
	const entries = Object.entries(fragment).map(([name, value]) => {
		const previous = valueAt(base, name);
		if (isObject(value)) return [name, mergeFragment(previous, value)];
		const appends =
			name === 'arguments' && typeof previous === 'string' && typeof value === 'string';
		return [name, appends ? previous + value : (value ?? previous)];
	});
	return { ...base, ...Object.fromEntries(entries) };
}
