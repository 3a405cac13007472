import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { readErrorObject } from '../errors/errorObject';
import { asText, excerpt, isObject, parseJson, asIndex, valueAt, type JsonObject } from '../json';
import { events } from '../protocol/service';
import { textOf, type Choice, type Completion } from './completion';
import { EventParser, type StreamEvent } from './eventStream';

/** Puts a streamed completion together ("Endpoints" 4, streaming) while its text is handed on live. */
export class StreamedCompletion {
	private readonly parser = new EventParser();
	private readonly head: JsonObject = {};
	private readonly choices = new Map<number, Choice>();
	private hasBegun = false;
	private error: unknown;
	/** What stands among the events and is none. */
	private stray?: string;
	private hasEndMark = false;

	/**
	 * @param count the choices that were asked for
	 * @param clean takes the API key out of what is quoted
	 */
	constructor(
		private readonly count = 1,
		private readonly clean = (text: string) => text,
	) {}

	/** @returns the text that this piece of the stream adds to the first choice */
	push(text: string): string {
		return this.parser
			.push(text)
			.map((event) => this.take(event))
			.join('');
	}

	/** Whether the closing mark has come, behind which nothing counts. */
	get isDone(): boolean {
		return this.hasEndMark;
	}

	/** The text received so far, of all choices, the first one first. */
	get text(): string {
		const texts = [...this.choices.values()].map(({ message }) => textOf(message));
		return texts.filter((text) => text !== '').join('\n\n');
	}

	/** The completion, once the stream has ended. @throws Unusable when it broke off */
	finish(answer: ServiceResponse): Completion {
		const { stray } = this;
		// What is left may be cut: that is the end of a stream, and no hole in it.
		for (const event of this.parser.end()) this.take(event);
		const { error, text } = this;
		if (error !== undefined) {
			const said =
				readErrorObject({ error })?.message ?? excerpt(this.clean(JSON.stringify(error)));
			throw new UnusableResponse(`broke off with an error: ${said}`, text, error);
		}
		if (!this.hasBegun && !this.isDone) throw new UnusableResponse(describeBody(answer), text);
		if (stray !== undefined) {
			throw new UnusableResponse(
				`has a hole: in its place stands ${excerpt(this.clean(stray), 120)}`,
				text,
			);
		}
		const choices = [...this.choices.values()].sort((a, b) => a.index - b.index);
		// Some servers forget the closing mark; choices that have told why they ended are whole all the same.
		const haveEnded =
			choices.length >= this.count &&
			choices.every(({ finish_reason: reason }) => reason !== undefined);
		if (choices.length === 0 || !(this.isDone || haveEnded))
			throw new UnusableResponse(
				`broke off: ${answer.broken ?? 'the stream ended too early'}`,
				text,
			);
		for (const { message } of choices) {
			const { tool_calls: calls } = message;
			// Indexes that no call had leave holes.
			if (Array.isArray(calls)) message.tool_calls = calls.filter((call) => call !== undefined);
		}
		const withId = answer.requestId === undefined ? {} : { request_id: answer.requestId };
		return { ...this.head, object: 'chat.completion', choices, ...withId };
	}

	private take({ name, data }: StreamEvent): string {
		if (this.isDone || data.trim() === '') return '';
		if (data.trim() === events.streamEnd) {
			this.hasEndMark = true;
			return '';
		}
		const chunk = parseJson(data);
		this.hasBegun ||= isObject(chunk);
		if (name === 'error') this.error = valueAt(chunk, 'error') ?? chunk ?? data;
		else if (chunk === undefined && !isHeartbeat({ name, data })) this.stray ??= data;
		if (!isObject(chunk)) return '';
		if (chunk.error) this.error = chunk.error;
		else if (chunk.type === 'error') this.error = chunk;
		for (const [name, value] of Object.entries(chunk)) {
			if (name !== 'choices' && name !== 'object' && value !== null)
				defineField(this.head, name, value);
		}
		const changes = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
		return changes.map((change) => this.extend(change)).join('');
	}

	private extend(change: JsonObject): string {
		const index = asIndex(change.index) ?? 0;
		const choice = this.choices.get(index) ?? {
			index,
			message: { role: 'assistant', content: '' },
		};
		this.choices.set(index, choice);
		// Some servers have an empty one until the end.
		choice.finish_reason = asText(change.finish_reason) ?? choice.finish_reason;
		const delta = isObject(change.delta) ? change.delta : {};
		for (const [name, value] of Object.entries(delta)) {
			if (name === 'tool_calls') mergeToolCalls(choice.message, value);
			else if (name === 'function_call') choice.message[name] = merge(choice.message[name], value);
			else if (name === 'content')
				choice.message.content = `${textOf(choice.message)}${textOf({ content: value })}`;
			else if (value !== null) {
				// Reasoning and refusals come in pieces as well; some servers repeat the role with each.
				const before = choice.message[name];
				const appends = name !== 'role' && typeof before === 'string' && typeof value === 'string';
				defineField(choice.message, name, appends ? before + value : value);
			}
		}
		const [first] = this.choices.keys();
		return index === first ? textOf({ content: delta.content }) : '';
	}
}

/** Some servers show that they are alive by events of other names, or by a word. */
function isHeartbeat({ name, data }: StreamEvent): boolean {
	const isOther = name !== '' && name !== 'message';
	return isOther || /^(ping|pong|heartbeat|keep-?alive)$/i.test(data.trim());
}

/** Also a field that is called __proto__ is a field. */
function defineField(object: JsonObject, name: string, value: unknown): void {
	Object.defineProperty(object, name, {
		value,
		writable: true,
		enumerable: true,
		configurable: true,
	});
}

const maxToolCalls = 1000;

/** Tool calls come in pieces too, each for the call of its index. */
function mergeToolCalls(message: JsonObject, pieces: unknown): void {
	const calls = (Array.isArray(message.tool_calls) ? message.tool_calls : []) as unknown[];
	for (const piece of Array.isArray(pieces) ? pieces.filter(isObject) : []) {
		const { index, ...rest } = piece;
		const given = asIndex(index) ?? Infinity;
		const place = given < maxToolCalls ? given : calls.length;
		calls[place] = merge(calls[place], rest);
	}
	message.tool_calls = calls;
}

/** Two pieces of one object: texts are appended, everything else is taken over. */
function merge(before: unknown, piece: unknown): unknown {
	if (!isObject(piece)) return piece ?? before;
	const base = isObject(before) ? before : {};
	const entries = Object.entries(piece).map(([name, value]) => {
		const old = valueAt(base, name);
		if (isObject(value)) return [name, merge(old, value)];
		const appends = name === 'arguments' && typeof old === 'string' && typeof value === 'string';
		return [name, appends ? old + value : (value ?? old)];
	});
	return { ...base, ...Object.fromEntries(entries) };
}
