/** One event of a server-sent stream (WHATWG HTML, 9.2): its data lines, joined. */
export type EventData = string;

/**
 * Splits a stream of text into events as it arrives, wherever it is cut. Takes every line ending,
 * several data lines, comments, and fields that nobody needs.
 */
export class EventParser {
	private rest = '';
	private data: string[] = [];
	/** A CR at the end may be half a line ending. */
	private endsInCr = false;

	/** The events that this piece of text completes. */
	push(text: string): EventData[] {
		this.rest += text;
		// Without a line ending nothing is complete; searching a long line again for each piece takes long.
		if (!this.endsInCr && !/[\r\n]/.test(text)) return [];
		const events: EventData[] = [];
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
	end(): EventData[] {
		const last = this.rest;
		this.rest = '';
		return [this.take(last.replace(/\r$/, '')), this.take('')].filter(
			(event) => event !== undefined,
		);
	}

	/** An empty line ends an event. */
	private take(line: string): EventData | undefined {
		if (line === '') {
			const { data } = this;
			this.data = [];
			return data.length === 0 ? undefined : data.join('\n');
		}
		const field = /^data(?:: ?(.*))?$/s.exec(line);
		if (field) this.data.push(field[1] ?? '');
		return undefined;
	}
}
