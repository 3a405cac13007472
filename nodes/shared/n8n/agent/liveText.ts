import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * Passes the text of one item on to a chat or a webhook while it arrives, if the execution streams. A tool of an agent
 * streams like any node, and the chat shows the text of each node as a separate message.
 */
export class LiveText {
	hasBegun = false;
	private isBroken = false;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly item: number,
	) {}

	async add(text: string): Promise<void> {
		const { context } = this;
		// Older versions of n8n do not stream.
		if (typeof context.isStreaming !== 'function' || !context.isStreaming()) return;
		if (!this.hasBegun) await this.send('begin');
		this.hasBegun = true;
		await this.send('item', text);
	}

	async end(): Promise<void> {
		if (this.hasBegun) await this.send('end');
	}

	/** Never fails: a worker that does not reach Redis must not give up what is paid for. The item has the whole text. */
	private async send(type: 'begin' | 'item' | 'end', text?: string): Promise<void> {
		if (this.isBroken) return;
		try {
			await this.context.sendChunk(type, this.item, text);
		} catch {
			// The text that follows would have a gap before it.
			this.isBroken = true;
		}
	}
}
