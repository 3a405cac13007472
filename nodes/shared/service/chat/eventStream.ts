import { isObject, parseResponse } from '../json';
import { maxEventLines } from '../protocol/bounds';
import { isStreamEnd } from '../protocol/chat';

/** One event of a server-sent stream (WHATWG HTML, 9.2). */
export interface StreamEvent {
	/** Empty when it has none. */
	name: string;
	data: string;
}

/** Splits a stream of text into events as it arrives, wherever its chunks are cut. */
export class EventParser {
	private buffer = '';
	private endsWithReturn = false;
	private name = '';
	private data: string[] = [];

	/** @returns the events that this chunk completes */
	push(text: string): StreamEvent[] {
		const given = this.withoutReturns(text);
		this.buffer += given;
		// Searching a long unfinished line again for each chunk would be slow.
		if (!given.includes('\n')) return [];
		const lines = this.buffer.split('\n');
		this.buffer = lines.pop() ?? '';
		return lines.flatMap((line) => this.readLine(line) ?? []);
	}

	/** @returns the event that was left open */
	end(): StreamEvent[] {
		return this.push('\n\n');
	}

	/** A line may end with CR, LF or both, and a chunk may end between them. */
	private withoutReturns(text: string): string {
		const given = this.endsWithReturn && text.startsWith('\n') ? text.slice(1) : text;
		this.endsWithReturn = text.endsWith('\r');
		return given.replace(/\r\n?/g, '\n');
	}

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
		// Not a field, so probably the text of a proxy: kept as data, to be reported.
		else if (!/^\s*(?!error\b)([\w.-]+\s*)?(:|$)/i.test(line)) this.data.push(line);
		return undefined;
	}
}

/** Signs without letters or digits, and at most one of these words. */
const heartbeat =
	/^[^\p{L}\p{N}]{0,9}(?:ping|pong|heartbeat|keep[-_ ]?alive)?[^\p{L}\p{N}]{0,9}$/iu;

/** After as many lines that are no JSON, no more of an event are parsed: each takes long, and the answer is useless. */
const maxStrayLines = 100;

/** An event has one chunk; some servers separate several by line ends alone, or send a list of them. */
export function chunksIn({ name, data }: StreamEvent) {
	// Some proxies pack the events of another server into events again.
	const text = data.replace(/^(?:data: ?)+/gm, '').trim();
	const whole = parseResponse(text);
	const lines = whole === undefined ? text.split('\n').map((line) => line.trim()) : [];
	const parts = lines.filter((line) => line !== '' && !isStreamEnd(line));
	let strays = 0;
	const valueOf = (part: string) => {
		const value = strays < maxStrayLines ? parseResponse(part) : undefined;
		if (value === undefined) strays++;
		return value;
	};
	const values = whole === undefined ? parts.map(valueOf) : [whole].flat();
	// Some servers keep the connection alive with events of other names.
	const isNamed = name !== '' && name !== 'message';
	const isHeartbeat = isNamed || heartbeat.test(text);
	const isStray = !isHeartbeat && values.includes(undefined);
	return {
		chunks: values.filter(isObject),
		isEnd: lines.some(isStreamEnd),
		strayText: isStray ? data : undefined,
	};
}
