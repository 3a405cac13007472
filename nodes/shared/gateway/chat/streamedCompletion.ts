import {
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ServiceResponse,
} from '../client/response';
import type { Runtime } from '../client/http';
import type { Redaction } from '../client/redaction';
import { asIndex, excerpt, isObject, parseJson, valueAt, type JsonObject } from '../json';
import { streamEnd } from '../protocol/chat';
import { brokeOffWithError, endsWithError, errorIn, errorInChoice } from './answerError';
import type { Completion } from './completion';
import { EventParser, piecesOf, type StreamEvent } from './eventStream';
import { defineField, KeptParts } from './fragments';
import { StreamedChoice } from './streamedChoice';

/** Assembles a streamed completion ("Endpoints" 4, streaming) while its text is passed on live. */
export class StreamedCompletion {
	private readonly parser = new EventParser();
	private readonly fields: JsonObject = {};
	private readonly choices = new Map<number, StreamedChoice>();
	private hasChunks = false;
	private error: unknown;
	private endsWithError = false;
	/** Whether the only chunk is a whole completion, as without streaming. */
	private isWhole = false;
	/** The first text in the stream that is not an event of the completion. */
	private strayText?: string;
	private endMarkSeen = false;
	private readonly kept = new KeptParts();

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

	/** Whether it has more in it than the completion of any chat. The rest is ignored. */
	get isExcessive(): boolean {
		return this.kept.areTooMany;
	}

	/** The text of all choices received so far, in the order in which they began. */
	get text(): string {
		const texts = [...this.choices.values()].map(({ text }) => text);
		return texts.filter((text) => text !== '').join('\n\n');
	}

	/** The completion, once the stream has ended. @throws UnusableResponse when it broke off */
	finish(response: ServiceResponse): Completion {
		const { strayText } = this;
		// Read first: an event that the end of the stream cut off is not stray text.
		for (const event of this.parser.end()) this.readEvent(event);
		const { error, text } = this;
		if (error !== undefined || this.endsWithError)
			throw brokeOffWithError(error, text, this.redact);
		if (this.isExcessive)
			throw new UnusableResponse('has more parts in it than any answer of a chat needs', text);
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
			choices.length >= this.count && choices.every(({ isFinished }) => isFinished);
		const isComplete = this.hasEndMark || areFinished || (this.isWhole && !response.broken);
		if (choices.length === 0 || !isComplete)
			throw new UnusableResponse(
				response.excess ?? `broke off: ${response.broken ?? 'the stream ended too early'}`,
				text,
			);
		return {
			...withRequestIds(this.fields, response),
			object: 'chat.completion',
			choices: choices.map((choice) => choice.get()),
		};
	}

	private readEvent({ name, data }: StreamEvent): string {
		const text = data.trim();
		if (this.hasEndMark || this.isExcessive || text === '') return '';
		const json = withoutEndMark(text);
		const chunk = parseJson(json);
		this.endMarkSeen = json !== text && (json === '' || isObject(chunk));
		if (json === '') return '';
		this.hasChunks ||= isObject(chunk);
		if (name === 'error') this.error = valueAt(chunk, 'error') ?? chunk ?? data;
		else if (chunk === undefined && !isHeartbeat({ name, data })) this.strayText ??= data;
		if (!isObject(chunk)) return '';
		for (const [name, value] of Object.entries(chunk)) {
			if (name === 'choices' || name === 'object' || value === null) continue;
			if (!Object.hasOwn(this.fields, name)) this.kept.add();
			defineField(this.fields, name, value);
		}
		const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
		this.error = [this.error, errorIn(chunk), ...choices.map(errorInChoice)].find(Boolean);
		this.endsWithError ||= choices.some(endsWithError);
		const isFirst = this.choices.size === 0;
		const isCompletion =
			chunk.object !== 'chat.completion.chunk' && choices.every(({ message }) => isObject(message));
		if (choices.length > 0) this.isWhole = isFirst && isCompletion;
		return choices.map((choice, position) => this.addTo(choice, position)).join('');
	}

	private addTo(given: JsonObject, position: number): string {
		const index = asIndex(given.index) ?? position;
		const choice = this.choices.get(index) ?? new StreamedChoice(index, this.kept);
		if (!this.choices.has(index)) this.kept.add();
		this.choices.set(index, choice);
		const added = choice.add(given);
		const [first] = this.choices.keys();
		return index === first ? added : '';
	}
}

/** The data of an event without the end mark, which some servers put behind the JSON of a whole completion. */
function withoutEndMark(text: string): string {
	if (!text.endsWith(streamEnd)) return text;
	const json = text.slice(0, -streamEnd.length).trimEnd();
	return json.endsWith('data:') ? json.slice(0, -'data:'.length).trimEnd() : json;
}

/** What reading a long stream needs of the gateway. */
export interface ReadingGateway {
	redaction: Redaction;
	runtime: Pick<Runtime, 'clock'>;
}

/**
 * A response with its completion as JSON. Some servers send events although they were not asked to stream, or put
 * `data:` before the JSON and the end mark behind it.
 * @throws UnusableResponse when the stream broke off, or the response is neither JSON nor a stream
 */
export async function unstreamed(
	response: ServiceResponse,
	{ redaction, runtime }: ReadingGateway,
	count?: number,
): Promise<ServiceResponse> {
	if (isObject(response.json)) return response;
	const stream = new StreamedCompletion(count, (text) => redaction.text(text));
	for await (const piece of piecesOf(response.text, runtime.clock)) {
		stream.push(piece);
		if (stream.hasEndMark || stream.isExcessive) break;
	}
	const assembled = stream.finish(response);
	// A key that was split over several chunks appears only now.
	const json = redaction.json(assembled);
	return { ...response, json, isRedacted: response.isRedacted || json !== assembled };
}

/** Some servers keep the connection alive with events of other names, or with a single word. */
function isHeartbeat({ name, data }: StreamEvent): boolean {
	const isNamed = name !== '' && name !== 'message';
	return isNamed || /^(ping|pong|heartbeat|keep-?alive)$/i.test(data.trim());
}
