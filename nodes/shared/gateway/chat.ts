import { complaint } from './answers';
import { asText, excerpt, isObject, parseJson, placeAt, valueAt, type JsonObject } from './json';
import { events } from './protocol';
import { serviceError } from './serviceErrors';
import { EventParser, type StreamEvent } from './sse';
import { Unusable, type Answer } from './transport';

/** "Resources", chat completion: one of its choices, in the fields we use. */
export interface Choice extends JsonObject {
	index: number;
	message: JsonObject & { content?: unknown };
	finish_reason?: string;
}

export interface Completion extends JsonObject {
	choices: Choice[];
}

/** @throws Unusable when there is no choice in it */
export function completion(answer: Answer): Completion {
	const { json } = answer;
	if (!isObject(json) || !Array.isArray(json.choices)) throw new Unusable(complaint(answer));
	const choices = json.choices.filter(isObject).map((choice, position) => ({
		...choice,
		index: placeAt(choice.index) ?? position,
		message: isObject(choice.message) ? choice.message : { content: choice.text ?? null },
	}));
	if (choices.length === 0) throw new Unusable('has no choices');
	const withId = answer.requestId === undefined ? {} : { request_id: answer.requestId };
	return { ...json, ...withId, choices: choices as Choice[] };
}

/** The text of a message, whichever form its content has ("Resources", message). */
export function textOf({ content }: Choice['message']): string {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	return content
		.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
		.join('');
}

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
	finish(answer: Answer): Completion {
		const { stray } = this;
		// What is left may be cut: that is the end of a stream, and no hole in it.
		for (const event of this.parser.end()) this.take(event);
		const { error, text } = this;
		if (error !== undefined) {
			const said = serviceError({ error })?.message ?? excerpt(this.clean(JSON.stringify(error)));
			throw new Unusable(`broke off with an error: ${said}`, text, error);
		}
		if (!this.hasBegun && !this.isDone) throw new Unusable(complaint(answer), text);
		if (stray !== undefined) {
			throw new Unusable(
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
			throw new Unusable(`broke off: ${answer.broken ?? 'the stream ended too early'}`, text);
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
			if (name !== 'choices' && name !== 'object' && value !== null) set(this.head, name, value);
		}
		const changes = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
		return changes.map((change) => this.extend(change)).join('');
	}

	private extend(change: JsonObject): string {
		const index = placeAt(change.index) ?? 0;
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
			else if (name === 'function_call') choice.message[name] = joined(choice.message[name], value);
			else if (name === 'content')
				choice.message.content = `${textOf(choice.message)}${textOf({ content: value })}`;
			else if (value !== null) {
				// Reasoning and refusals come in pieces as well; some servers repeat the role with each.
				const before = choice.message[name];
				const appends = name !== 'role' && typeof before === 'string' && typeof value === 'string';
				set(choice.message, name, appends ? before + value : value);
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
function set(object: JsonObject, name: string, value: unknown): void {
	Object.defineProperty(object, name, {
		value,
		writable: true,
		enumerable: true,
		configurable: true,
	});
}

const mostToolCalls = 1000;

/** Tool calls come in pieces too, each for the call of its index. */
function mergeToolCalls(message: JsonObject, pieces: unknown): void {
	const calls = (Array.isArray(message.tool_calls) ? message.tool_calls : []) as unknown[];
	for (const piece of Array.isArray(pieces) ? pieces.filter(isObject) : []) {
		const { index, ...rest } = piece;
		const given = placeAt(index) ?? Infinity;
		const place = given < mostToolCalls ? given : calls.length;
		calls[place] = joined(calls[place], rest);
	}
	message.tool_calls = calls;
}

/** Two pieces of one object: texts are appended, everything else is taken over. */
function joined(before: unknown, piece: unknown): unknown {
	if (!isObject(piece)) return piece ?? before;
	const base = isObject(before) ? before : {};
	const entries = Object.entries(piece).map(([name, value]) => {
		const old = valueAt(base, name);
		if (isObject(value)) return [name, joined(old, value)];
		const appends = name === 'arguments' && typeof old === 'string' && typeof value === 'string';
		return [name, appends ? old + value : (value ?? old)];
	});
	return { ...base, ...Object.fromEntries(entries) };
}
