import { nextTurn } from '../client/eventLoop';
import type { Clock, Runtime } from '../client/http';
import type { Redaction } from '../client/redaction';
import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { asIndex, excerpt, isObject, parseJson, type JsonObject } from '../json';
import { maxEventsAtOnce, maxKeptParts } from '../protocol/bounds';
import { brokeOffWithError, errorInChoice } from './answerError';
import { choicesIn, textOf, type Choice } from './completion';
import { chunksIn, EventParser, type StreamEvent } from './eventStream';
import { addFragment, type KeptParts } from './fragments';
import { StreamedChoice } from './streamedChoice';

/**
 * Collects the events of a stream into the answer as it is without streaming, while its text is passed on live
 * ("Endpoints" 4, streaming). Also read are the streams of "Endpoints" 5 and of other services.
 */
export class AnswerStream {
	private readonly parser = new EventParser();
	private readonly kept: KeptParts = { count: 0 };
	/** Of a completion, or of a message of "Endpoints" 5. */
	private readonly fields: JsonObject = {};
	private readonly choices = new Map<number, StreamedChoice>();
	private isMessage = false;
	/** The parts of its content, by their places. */
	private readonly parts: JsonObject = {};
	/** The number of chunks that came. */
	private chunks = 0;
	/** The chunk, while there is no other. */
	private only?: JsonObject;
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

	/** As {@link push}, for a text of any length: other work runs between its events. */
	async read(text: string, clock: Clock): Promise<string> {
		const { chunks } = this;
		let added = '';
		for (let at = 0; at < text.length && !this.isOver; at += maxEventsAtOnce) {
			added += this.push(text.slice(at, at + maxEventsAtOnce));
			// A part of a long event takes no time, but may complete it.
			const isLong = Math.max(text.length, added.length) > maxEventsAtOnce;
			if (isLong && this.chunks > chunks) await nextTurn(clock);
		}
		return added;
	}

	/** @returns the text that this part of the response adds to the first choice */
	push(text: string): string {
		return this.parser
			.push(text)
			.map((event) => this.readEvent(event))
			.join('');
	}

	/** Whether the rest is ignored: the answer has ended, or has more in it than any. */
	get isOver(): boolean {
		return this.hasEnd || this.isExcessive;
	}

	private get isExcessive(): boolean {
		return this.kept.count > maxKeptParts;
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
		const { error, text } = this;
		const choices = [...this.choices.values()];
		if (error !== undefined || choices.some(({ finishReason }) => finishReason === 'error'))
			throw brokeOffWithError(redaction.json(error), text);
		const answer = this.answer(response);
		if (answer === undefined || strayText !== undefined || this.isExcessive)
			throw new UnusableResponse(this.problemIn(response, strayText), text);
		// A key that was split over several events appears only now.
		const json = redaction.json(answer);
		return { ...response, json, isRedacted: response.isRedacted || json !== answer };
	}

	/** What is wrong with the stream; continues "the response …". */
	private problemIn(response: ServiceResponse, strayText?: string): string {
		if (this.isExcessive) return 'has more parts in it than any answer of a chat needs';
		if (this.chunks === 0 && !this.hasEnd) return describeBody(response);
		const stray = excerpt(this.redaction.text(strayText ?? ''), 120);
		if (stray !== '') return `is missing a part; this came instead: ${stray}`;
		return response.excess ?? `broke off: ${response.broken ?? 'the stream ended too early'}`;
	}

	/** The answer as it is without streaming; undefined unless it is whole. */
	private answer({ broken }: ServiceResponse): JsonObject | undefined {
		const { fields, only, hasEnd } = this;
		if (only && broken === undefined && isWhole(only)) return only;
		// Some servers omit the end mark; an answer is whole nonetheless when it says why it ended.
		if (this.isMessage) {
			if (!hasEnd && typeof fields.stop_reason !== 'string') return undefined;
			return { ...fields, content: Object.values(this.parts).filter(isObject).map(withInput) };
		}
		const choices = [...this.choices].sort(([one], [other]) => one - other);
		const areFinished =
			choices.length >= this.count &&
			choices.every(([, { finishReason }]) => finishReason !== undefined);
		if (choices.length === 0 || !(hasEnd || areFinished)) return undefined;
		const whole = choices.map(([index, choice]) => choice.get(index));
		return { ...fields, object: 'chat.completion', choices: whole };
	}

	private readEvent(event: StreamEvent): string {
		if (this.isOver) return '';
		const { chunks, isEnd, strayText } = chunksIn(event);
		this.hasEnd = isEnd;
		this.strayText ??= strayText;
		if (event.name === 'error') this.error ??= chunks[0]?.error ?? chunks[0] ?? event.data;
		return chunks.map((chunk) => this.readChunk(chunk)).join('');
	}

	/** @returns the text that this chunk adds to the first choice */
	private readChunk(chunk: JsonObject): string {
		this.only = this.chunks++ === 0 ? chunk : undefined;
		const choices = piecesIn(chunk);
		this.error ??= [chunk, ...choices].map(errorInChoice).find((error) => error !== undefined);
		if (/^(?:message|content_block)_/.test(String(chunk.type))) return this.readOfMessage(chunk);
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
		if (!this.choices.has(index)) this.kept.count++;
		this.choices.set(index, choice);
		const added = choice.add(given);
		const [first] = this.choices.keys();
		return index === first ? added : '';
	}
}

/** Where a chunk has its answers. */
const answerNames = new Set(['choices', 'candidates', 'message', 'output']);

/** The answers of which a chunk has a piece. Other events may have texts that are about something else. */
function piecesIn(chunk: JsonObject): Choice[] {
	const { choices, candidates, output, done } = chunk;
	const isPart = candidates !== undefined || done !== undefined;
	if (choices === undefined && !isPart && !isObject(output)) return [];
	const given = choicesIn(chunk) ?? [];
	// A message may be the answer so far; those of these services are always parts.
	return isPart ? given.map((choice) => ({ ...choice, delta: choice.message })) : given;
}

/** Whether the only chunk is a whole answer, as without streaming. */
function isWhole(chunk: JsonObject): boolean {
	const choices = choicesIn(chunk) ?? [];
	const isPiece = choices.some((choice) => 'delta' in choice || 'text' in choice);
	const isChunk = chunk.object === 'chat.completion.chunk' || chunk.done === false;
	return choices.length > 0 && !isPiece && !isChunk;
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
	await stream.read(text, runtime.clock);
	return stream.finish(response);
}
