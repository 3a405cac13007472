/** One event of a server-sent stream (WHATWG HTML, 9.2). */
export interface StreamEvent {
	/** Empty unless the event has one. */
	name: string;
	/** Its data lines, joined. */
	data: string;
}

/**
 * Splits a stream of text into events as it arrives, wherever it is cut. Takes every line ending,
 * several data lines, comments, and fields that nobody needs.
 */
export class EventParser {
	private rest = '';
	private name = '';
	private data: string[] = [];
	/** A CR at the end may be half a line ending. */
	private endsInCr = false;

	/** The events that this piece of text completes. */
	push(text: string): StreamEvent[] {
		this.rest += text;
		// Without a line ending nothing is complete; searching a long line again for each piece takes long.
		if (!this.endsInCr && !/[\r\n]/.test(text)) return [];
		const events: StreamEvent[] = [];
		for (;;) {
			const end = /\r\n|\n|\r(?!$)/.exec(this.rest);
			if (end === null) {
				this.endsInCr = this.rest.endsWith('\r');
				return events;
			}
			const event = this.take(this.rest.slice(0, end.index));
			this.rest = this.rest.slice(end.index + end[0].length);
			if (event !== undefined) events.push(event);
		}
	}

	/** The event that the end of the stream completes, if it was left open. */
	end(): StreamEvent[] {
		const last = this.rest;
		this.rest = '';
		return [this.take(last.replace(/\r$/, '')), this.take('')].filter(
			(event) => event !== undefined,
		);
	}

	/** An empty line ends an event. */
	private take(line: string): StreamEvent | undefined {
		if (line === '') {
			const { name, data } = this;
			this.name = '';
			this.data = [];
			return data.length === 0 ? undefined : { name, data: data.join('\n') };
		}
		const [, field, value = ''] = /^(data|event)(?:: ?(.*))?$/s.exec(line) ?? [];
		if (field === 'event') this.name = value;
		else if (field === 'data') this.data.push(value);
		// No field of any name, but words of its own that a proxy put into the middle of the stream.
		else if (!/^\s*[\w.-]*\s*(:|$)/.test(line)) this.data.push(line);
		return undefined;
	}
}
