import type { Clock } from '../client/clock';
import { maxEventLines, maxEventsAtOnce } from '../protocol/bounds';

/** One event of a server-sent stream (WHATWG HTML, 9.2). */
export interface StreamEvent {
	/** The name of the event; empty when it has none. */
	name: string;
	/** Its data lines, joined. */
	data: string;
}

/** The pieces of a long stream that arrived as a whole. Other work runs between them. */
export async function* piecesOf(
	text: string,
	clock: Clock,
): AsyncGenerator<string, void, undefined> {
	for (let at = 0; at < text.length; at += maxEventsAtOnce) {
		if (at > 0) await clock.sleep(0);
		yield text.slice(at, at + maxEventsAtOnce);
	}
}

/**
 * Splits a stream of text into events as it arrives, wherever its chunks are cut. Accepts every line ending,
 * several data lines, comments, and fields that are not used here.
 */
export class EventParser {
	private buffer = '';
	private name = '';
	private data: string[] = [];
	/** Whether the buffer ends in a CR, which may be half of a CRLF. */
	private endsInCr = false;

	/** @returns the events that this chunk completes */
	push(text: string): StreamEvent[] {
		this.buffer += text;
		// Searching a long unfinished line again for each chunk would be slow.
		if (!this.endsInCr && !/[\r\n]/.test(text)) return [];
		const events: StreamEvent[] = [];
		for (;;) {
			const end = /\r\n|\n|\r(?!$)/.exec(this.buffer);
			if (end === null) {
				this.endsInCr = this.buffer.endsWith('\r');
				return events;
			}
			const event = this.readLine(this.buffer.slice(0, end.index));
			this.buffer = this.buffer.slice(end.index + end[0].length);
			if (event !== undefined) events.push(event);
		}
	}

	/** @returns the event that the end of the stream completes, if one was left open */
	end(): StreamEvent[] {
		const last = this.buffer;
		this.buffer = '';
		return [this.readLine(last.replace(/\r$/, '')), this.readLine('')].filter(
			(event) => event !== undefined,
		);
	}

	/** @returns the event that this line ends: an empty line does */
	private readLine(line: string): StreamEvent | undefined {
		if (line === '') {
			const { name, data } = this;
			this.name = '';
			this.data = [];
			return data.length === 0 ? undefined : { name, data: data.join('\n') };
		}
		if (this.data.length === maxEventLines) return undefined;
		const [, field, value = ''] = /^(data|event)(?:: ?(.*))?$/s.exec(line) ?? [];
		if (field === 'event') this.name = value;
		else if (field === 'data') this.data.push(value);
		// Not a field, so probably text that a proxy put into the middle of the stream: kept as data, to be reported.
		else if (!/^\s*([\w.-]+\s*)?(:|$)/.test(line)) this.data.push(line);
		return undefined;
	}
}
