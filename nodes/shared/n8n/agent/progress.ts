import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * Short lines for whoever watches a chat or a webhook that streams, about one item. A tool of an agent streams
 * like any node; the chat shows the lines of each node as a message of their own. Without a stream, nothing.
 */
export class ProgressLines {
	private hasBegun = false;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly item: number,
	) {}

	async add(line: string): Promise<void> {
		const { context, item } = this;
		// Older versions of n8n do not stream.
		if (typeof context.isStreaming !== 'function' || !context.isStreaming()) return;
		if (!this.hasBegun) await context.sendChunk('begin', item);
		this.hasBegun = true;
		// Markdown needs the empty line to begin a new one.
		await context.sendChunk('item', item, `${line}\n\n`);
	}

	async end(): Promise<void> {
		if (this.hasBegun) await this.context.sendChunk('end', this.item);
	}
}
