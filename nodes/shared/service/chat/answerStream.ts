import { nextTurn } from '../client/eventLoop';
import type { Clock, Runtime } from '../client/http';
import type { Redaction } from '../client/redaction';
import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { excerpt, isObject, parseJson, valueAt, type JsonObject } from '../json';
import { maxEventsAtOnce, maxKeptParts } from '../protocol/bounds';
import { streamEnd } from '../protocol/chat';
import { statedRefusal } from '../reader/refusal';
import {
	brokeOffWithError,
	choicesIn,
	errorInChoice,
	generatedIn,
	type Choice,
} from './completion';
import { chunksIn, EventParser, type StreamEvent } from './eventStream';
import { addFragment, type KeptParts } from './fragments';
import { asChunk, isMessageEvent } from './eventChunks';
import { StreamedChoice } from './streamedChoice';

/** Collects the events of a stream ("Endpoints" 4 and 5, other services) into the answer as it is without streaming. */
export class AnswerStream {
	private readonly parser = new EventParser();
	private readonly kept: KeptParts = { count: 0 };
	private readonly fields: JsonObject = {};
	private readonly choices = new Map<number, StreamedChoice>();
	private chunkCount = 0;
	private hasEnd = false;
	private error: unknown;
	/** A refusal without an error object, or a mere remark: it counts only when no answer ends by itself. */
	private refusal: unknown;
	/** The first text in the stream that is not an event of the answer. */
	private strayText?: string;

	/** @param count number of choices requested */
	constructor(
		private readonly redaction: Redaction,
		private readonly count = 1,
	) {}

	/** As {@link push}, for a text of any length: other work runs between its events. */
	async read(text: string, clock: Clock): Promise<string> {
		let added = '';
		for (let at = 0; at < text.length && !this.isOver; at += maxEventsAtOnce) {
			const part = text.slice(at, at + maxEventsAtOnce);
			added += this.push(part);
			// A part of a long line takes no time.
			const isLong = Math.max(text.length, added.length) > maxEventsAtOnce;
			if (isLong && part.includes('\n')) await nextTurn(clock);
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

	get text(): string {
		const texts = [...this.choices.values()].map(({ text }) => text);
		return texts.filter(Boolean).join('\n\n');
	}

	/**
	 * The response with the collected answer as its JSON, once the stream has ended.
	 * @throws UnusableResponse when it broke off, or had an error in it
	 */
	finish(response: ServiceResponse): ServiceResponse {
		const { strayText, redaction } = this;
		// Read first: an event that the end of the stream cut off is not stray text.
		for (const event of this.parser.end()) this.readEvent(event);
		const { text, fields, hasEnd } = this;
		const choices = [...this.choices].sort(([one], [other]) => one - other);
		const ends = choices.map(([, { finishReason }]) => finishReason ?? undefined);
		const whole = choices.map(([index, choice]) => choice.get(index));
		const haveEnded = choices.length > 0 && !ends.includes(undefined);
		const error = this.error ?? (haveEnded ? undefined : this.refusal);
		// No link of an answer with a gap is whole for sure.
		const hasPart = whole.length > 0 && strayText === undefined;
		const partialAnswer = hasPart ? { ...fields, choices: whole } : undefined;
		if (error !== undefined || ends.includes('error'))
			throw brokeOffWithError(redaction.json(error), generatedIn(whole), partialAnswer);
		// Some servers omit the end mark; an answer is whole nonetheless when it says why it ended.
		const areFinished = haveEnded && choices.length >= this.count;
		const isWhole = choices.length > 0 && (hasEnd || areFinished);
		if (!isWhole || strayText !== undefined || this.isExcessive)
			throw new UnusableResponse(this.problemIn(response, strayText), {
				partialText: text,
				partialAnswer,
			});
		const answer = { ...fields, object: 'chat.completion', choices: whole };
		// A key that was split over several events appears only now.
		const json = redaction.json(answer);
		return { ...response, json, isRedacted: response.isRedacted || json !== answer };
	}

	/** Continues "the response …". */
	private problemIn(response: ServiceResponse, strayText?: string): string {
		if (this.isExcessive) return 'has more parts in it than any answer of a chat needs';
		if (this.chunkCount === 0 && !this.hasEnd) return describeBody(response);
		const stray = excerpt(this.redaction.text(strayText ?? ''), 120);
		if (stray !== '') return `is missing a part; this came instead: ${stray}`;
		return response.excess ?? `broke off: ${response.broken ?? 'the stream ended too early'}`;
	}

	private readEvent(event: StreamEvent): string {
		if (this.isOver) return '';
		const { chunks, isEnd, strayText } = chunksIn(event);
		this.strayText ??= strayText;
		if (event.name === 'error') this.error ??= chunks[0]?.error ?? chunks[0] ?? event.data;
		const added = chunks.map((chunk) => this.readChunk(asChunk(chunk))).join('');
		this.hasEnd ||= isEnd;
		return added;
	}

	private readChunk(chunk: JsonObject): string {
		this.chunkCount++;
		this.hasEnd ||= chunk.type === 'message_stop' || chunk.done === true;
		const choices = piecesIn(chunk);
		this.error ??= [chunk, ...choices].map(errorInChoice).find((error) => error !== undefined);
		if (choices.length === 0) this.refusal ??= statedRefusal(chunk, 'generation');
		addFragment(this.fields, { ...chunk, ...withoutAnswers }, 'replaces', this.kept);
		return choices.map((choice) => this.addTo(choice)).join('');
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

/** A chunk has its answers there. */
const withoutAnswers = {
	choices: undefined,
	candidates: undefined,
	message: undefined,
	output: undefined,
	data: undefined,
};

/** The choices to which a chunk adds. Other events may have texts about something else. */
function piecesIn(chunk: JsonObject): Choice[] {
	const { choices, candidates, output, data, done } = chunk;
	const isPart = candidates !== undefined || done !== undefined;
	if (choices === undefined && !isPart && ![output, data].some(isObject)) return [];
	const given = choicesIn(chunk) ?? [];
	// A message may be the answer so far; that of these services, and a bare text, is always a part.
	const isPiece = (choice: Choice) => isPart || (typeof choice.text === 'string' && !choice.delta);
	return given.map((each) => (isPiece(each) ? { ...each, delta: each.message } : each));
}

/**
 * A response with its answer as JSON. Some servers stream without being asked, or put `data:` before the JSON and the
 * end mark behind it.
 * @param stream has read the response as it arrived
 * @throws UnusableResponse when the stream broke off, or the response is neither JSON nor a stream
 */
export async function unstreamed(
	response: ServiceResponse,
	{ redaction, runtime }: { redaction: Redaction; runtime: Pick<Runtime, 'clock'> },
	{ count, stream }: { count?: number; stream?: AnswerStream } = {},
): Promise<ServiceResponse> {
	const { json, text } = response;
	const isBroken = response.broken !== undefined;
	const isJson = isObject(json) || (Array.isArray(json) && json.length === 1);
	// A stream may end after its first piece.
	if (isJson && !((stream || isBroken) && isPiece(json))) return response;
	const whole = wholeAnswerIn(text, isBroken);
	if (whole) return { ...response, json: redaction.json(whole) };
	const received = stream ?? new AnswerStream(redaction, count);
	if (stream === undefined) await received.read(text, runtime.clock);
	return received.finish(response);
}

/** The JSON of a whole answer between the marks of a stream. */
function wholeAnswerIn(text: string, isBroken: boolean): JsonObject | undefined {
	const begun = withoutEnd(withoutEnd(text.trim(), streamEnd), 'data:');
	const json = begun.startsWith('data:') ? begun.slice('data:'.length) : begun;
	const answer = json.includes('\ndata:') ? undefined : parseJson(json);
	if (!isObject(answer) || isPiece(answer)) return undefined;
	const choices = choicesIn(answer) ?? [];
	const arePieces = choices.some(
		(choice) => 'delta' in choice || 'text' in choice || (isBroken && !choice.finish_reason),
	);
	return choices.length === 0 || arePieces ? undefined : answer;
}

const isPiece = (answer: unknown): boolean =>
	valueAt(answer, 'object') === 'chat.completion.chunk' ||
	valueAt(answer, 'done') === false ||
	isMessageEvent(valueAt(answer, 'type'));

const withoutEnd = (text: string, end: string) =>
	text.endsWith(end) ? text.slice(0, -end.length).trimEnd() : text;
