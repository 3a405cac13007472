import type { Runtime } from '../client/http';
import type { Redaction } from '../client/redaction';
import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { asIndex, excerpt, isObject, parseJson, type JsonObject } from '../json';
import { maxEventsAtOnce } from '../protocol/bounds';
import { streamEnd } from '../protocol/chat';
import { brokeOffWithError, errorInChoice } from './answerError';
import { completionIn, textOf, type Choice } from './completion';
import { EventParser, type StreamEvent } from './eventStream';
import { addFragment, KeptParts } from './fragments';
import { StreamedChoice } from './streamedChoice';

/**
 * Collects the events of a stream into the answer as it is without streaming, while its text is passed on live
 * ("Endpoints" 4, streaming). Also read are the streams of "Endpoints" 5 and of other services.
 */
export class AnswerStream {
	private readonly parser = new EventParser();
	private readonly kept = new KeptParts();
	/** Of a completion, or of a message of "Endpoints" 5. */
	private readonly fields: JsonObject = {};
	private readonly choices = new Map<number, StreamedChoice>();
	private isMessage = false;
	/** The parts of its content, by their places. */
	private readonly parts: JsonObject = {};
	/** The number of chunks that came. */
	private chunks = 0;
	/** The only chunk, if it is a whole answer as without streaming. */
	private whole?: JsonObject;
	/** Whether the end has come; anything after it is ignored. */
	private hasEnd = false;
	private error: unknown;
	/** The first text in the stream that is not an event of the answer. */
	private strayText?: string;

	/** @param count number of choices requested */
	constructor(
		private readonly redaction: Redaction,
		private readonly count = 1,
	) {}

	/** @returns the text that this part of the response adds to the first choice */
	push(text: string): string {
		return this.parser
			.push(text)
			.map((event) => this.readEvent(event))
			.join('');
	}

	/** Whether the rest is ignored: the answer has ended, or has more in it than any. */
	get isOver(): boolean {
		return this.hasEnd || this.kept.areTooMany;
	}

	/** The text of all choices received so far, in the order in which they began. */
	get text(): string {
		const texts = [...this.choices.values()].map(({ text }) => text);
		return [textOf({ content: Object.values(this.parts) }), ...texts].filter(Boolean).join('\n\n');
	}

	/**
	 * The response with the collected answer as its JSON, once the stream has ended.
	 * @throws UnusableResponse when it broke off, or had an error in it
	 */
	finish(response: ServiceResponse): ServiceResponse {
		const { strayText, redaction } = this;
		// Read first: an event that the end of the stream cut off is not stray text.
		for (const event of this.parser.end()) this.readEvent(event);
		const { error, text, choices } = this;
		const endsWithError = [...choices.values()].some((choice) => choice.finishReason === 'error');
		if (error !== undefined || endsWithError) throw brokeOffWithError(redaction.json(error), text);
		const problem = this.problemOf(response, strayText);
		if (problem !== undefined) throw new UnusableResponse(problem, text);
		const answer = this.answer();
		// A key that was split over several events appears only now.
		const json = redaction.json(answer);
		return { ...response, json, isRedacted: response.isRedacted || json !== answer };
	}

	private answer(): JsonObject {
		const { fields, isMessage, parts, choices, whole } = this;
		if (whole) return { ...whole, ...fields };
		if (isMessage)
			return { ...fields, content: Object.values(parts).filter(isObject).map(withInput) };
		const ordered = [...choices].sort(([one], [other]) => one - other);
		const given = ordered.map(([index, choice]) => choice.get(index));
		return { ...fields, object: 'chat.completion', choices: given };
	}

	/** Why the stream has no whole answer; continues "the response …". */
	private problemOf(response: ServiceResponse, strayText?: string): string | undefined {
		if (this.kept.areTooMany) return 'has more parts in it than any answer of a chat needs';
		if (this.chunks === 0 && !this.hasEnd) return describeBody(response);
		if (strayText !== undefined) {
			const text = excerpt(this.redaction.text(strayText), 120);
			return `is missing a part; this came instead: ${text}`;
		}
		const choices = [...this.choices.values()];
		const isWhole = this.whole !== undefined && response.broken === undefined;
		// Some servers omit the end mark; an answer is complete nonetheless when it says why it ended.
		const isFinished = this.isMessage
			? typeof this.fields.stop_reason === 'string'
			: choices.length >= this.count &&
				choices.every((choice) => choice.finishReason !== undefined);
		const hasBegun = this.isMessage || this.whole !== undefined || choices.length > 0;
		if (hasBegun && (this.hasEnd || isFinished || isWhole)) return undefined;
		return response.excess ?? `broke off: ${response.broken ?? 'the stream ended too early'}`;
	}

	private readEvent({ name, data }: StreamEvent): string {
		const text = data.trim();
		if (this.isOver || text === '') return '';
		const json = withoutEndMark(text);
		const values = valuesIn(json);
		const chunks = values.filter(isObject);
		this.hasEnd = json !== text && (json === '' || chunks.length > 0);
		if (name === 'error') this.error ??= chunks[0]?.error ?? chunks[0] ?? data;
		else if (values.includes(undefined) && !isHeartbeat({ name, data })) this.strayText ??= data;
		return chunks.map((chunk) => this.readChunk(chunk)).join('');
	}

	/** @returns the text that this chunk adds to the first choice */
	private readChunk(chunk: JsonObject): string {
		this.chunks++;
		const choices = choicesIn(chunk);
		this.error ??= [chunk, ...choices].map(errorInChoice).find((error) => error !== undefined);
		if (/^(?:message|content_block)_/.test(String(chunk.type))) return this.readOfMessage(chunk);
		const isPiece = choices.length > 0;
		const isOnly = isPiece ? this.choices.size === 0 : this.chunks === 1;
		if (isPiece || this.choices.size === 0)
			this.whole = isOnly && isWhole(chunk, choices) ? chunk : undefined;
		const names = Object.keys(chunk).filter((name) => !answerNames.has(name));
		const fields = Object.fromEntries(names.map((name) => [name, chunk[name]]));
		addFragment(this.fields, fields, 'replaces', this.kept);
		return choices.map((choice) => this.addTo(choice)).join('');
	}

	/** Reads an event of "Endpoints" 5. The specification shows none; these are those of endpoints of this kind. */
	private readOfMessage({ type, index, message, delta, usage, content_block: block }: JsonObject) {
		this.isMessage = true;
		this.hasEnd ||= type === 'message_stop';
		const fields = [message, { usage }, type === 'message_delta' ? delta : undefined];
		for (const some of fields.filter(isObject))
			addFragment(this.fields, some, 'replaces', this.kept);
		const part = block ?? (type === 'content_block_delta' ? textsOf(delta) : undefined);
		addFragment(this.parts, { [asIndex(index) ?? 0]: part }, 'follows', this.kept);
		return textOf({ content: part });
	}

	private addTo(given: Choice): string {
		const { index } = given;
		const choice = this.choices.get(index) ?? new StreamedChoice(this.kept);
		if (!this.choices.has(index)) this.kept.add();
		this.choices.set(index, choice);
		const added = choice.add(given);
		const [first] = this.choices.keys();
		return index === first ? added : '';
	}
}

/** Where a chunk has its answers. */
const answerNames = new Set(['choices', 'candidates', 'message', 'output']);

/** The answers of which a chunk has a piece. Other events may have texts that are about something else. */
function choicesIn(chunk: JsonObject): Choice[] {
	const { choices, candidates, output, done } = chunk;
	const isPart = candidates !== undefined || done !== undefined;
	if (choices === undefined && !isPart && !isObject(output)) return [];
	const given = completionIn(chunk)?.choices ?? [];
	// A message may be the answer so far; those of these services are always parts.
	return isPart ? given.map((choice) => ({ ...choice, delta: choice.message })) : given;
}

/** Whether a chunk is a whole answer, as without streaming. */
function isWhole(chunk: JsonObject, pieces: Choice[]): boolean {
	const choices = pieces.length > 0 ? pieces : (completionIn(chunk)?.choices ?? []);
	const isPiece = choices.some((choice) => 'delta' in choice || 'text' in choice);
	return choices.length > 0 && !isPiece && chunk.object !== 'chat.completion.chunk';
}

/** The texts of a delta, which has a type of its own. */
function textsOf(delta: unknown): JsonObject {
	const texts = Object.entries(isObject(delta) ? delta : {}).filter(
		([name, value]) => name !== 'type' && typeof value === 'string',
	);
	return Object.fromEntries(texts);
}

/** The input of a tool call, which arrives as the pieces of a JSON text. */
function withInput({ partial_json: json, ...part }: JsonObject): JsonObject {
	return typeof json === 'string' ? { ...part, input: parseJson(json) ?? json } : part;
}

/** What an event has: mostly one chunk, but some servers separate chunks by line ends, or send a list of them. */
function valuesIn(json: string): unknown[] {
	if (json === '') return [];
	const value = parseJson(json);
	if (value !== undefined || !json.includes('\n')) return [value].flat();
	return json
		.split('\n')
		.filter((line) => line.trim() !== '')
		.map((line) => parseJson(line));
}

/** The data of an event without the end mark, which some servers put behind the JSON of a whole completion. */
function withoutEndMark(text: string): string {
	if (!text.endsWith(streamEnd)) return text;
	const json = text.slice(0, -streamEnd.length).trimEnd();
	return json.endsWith('data:') ? json.slice(0, -'data:'.length).trimEnd() : json;
}

/** Some servers keep the connection alive with events of other names, or with a single word. */
function isHeartbeat({ name, data }: StreamEvent): boolean {
	const isNamed = name !== '' && name !== 'message';
	return isNamed || /^(ping|pong|heartbeat|keep-?alive)$/i.test(data.trim());
}

/** What reading a long stream needs of the gateway. */
interface ReadingGateway {
	redaction: Redaction;
	runtime: Pick<Runtime, 'clock'>;
}

/**
 * A response with its answer as JSON. Some servers send events although they were not asked to stream, or put `data:`
 * before the JSON and the end mark behind it.
 * @param count number of choices requested
 * @throws UnusableResponse when the stream broke off, or the response is neither JSON nor a stream
 */
export async function unstreamed(
	response: ServiceResponse,
	{ redaction, runtime }: ReadingGateway,
	count?: number,
): Promise<ServiceResponse> {
	const { json, text } = response;
	if (isObject(json) || (Array.isArray(json) && json.length === 1)) return response;
	const stream = new AnswerStream(redaction, count);
	for (let at = 0; at < text.length && !stream.isOver; at += maxEventsAtOnce) {
		if (at > 0) await runtime.clock.sleep(0);
		stream.push(text.slice(at, at + maxEventsAtOnce));
	}
	return stream.finish(response);
}
