import type { IExecuteFunctions } from 'n8n-workflow';
import { describeProgress, type JobSummary } from '../../gateway/errors/jobSummary';
import { asMarkdown } from '../display/plainText';

/**
 * Streams the progress of one item's job as short lines of Markdown to a chat or a webhook. A tool of an agent streams
 * like any node, and the chat shows the lines of each node as a separate message. Does nothing when the execution does
 * not stream.
 */
export class ProgressLines {
	private hasBegun = false;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly item: number,
	) {}

	async add(job: JobSummary): Promise<void> {
		const { context, item } = this;
		// Older versions of n8n do not stream.
		if (typeof context.isStreaming !== 'function' || !context.isStreaming()) return;
		if (!this.hasBegun) await context.sendChunk('begin', item);
		this.hasBegun = true;
		// Markdown needs an empty line between two lines.
		await context.sendChunk('item', item, `${describeProgress(job, asMarkdown)}\n\n`);
	}

	async end(): Promise<void> {
		if (this.hasBegun) await this.context.sendChunk('end', this.item);
	}
}
