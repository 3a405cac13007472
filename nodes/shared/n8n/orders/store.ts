import type { IExecuteFunctions } from 'n8n-workflow';
import { lockAll } from './locks';

/** Of the entries of a node, n8n keeps the newest. It reads and writes all of them each time: about 270 kB. */
const maxEntries = 10_000;

/** How many are taken out in one call. */
const maxRemoved = 500;

/**
 * n8n's store of processed items, for this node. It outlasts the process, and every worker sees it, but it holds hashes,
 * and cannot be asked without recording. Executions of one process take turns, because n8n reads, changes and writes a
 * node's entries without a lock; what a worker writes at the very same moment may write over what this one has recorded.
 *
 * Its methods throw whatever n8n does where there is no store: for a workflow that was never saved, or without its
 * database.
 */
export class Store {
	constructor(private readonly context: IExecuteFunctions) {}

	/** Records these values. @returns which of them were not recorded before, and which were */
	async record(values: readonly string[]): Promise<{ added: string[]; known: string[] }> {
		const options = {
			mode: 'entries',
			// What is recorded now may be taken out again, and is not to push out older entries.
			maxEntries: maxEntries + values.length,
		} as const;
		const { new: added, processed } = await this.inTurn(
			async (helpers) => await helpers.checkProcessedAndRecord([...values], 'node', options),
		);
		return { added: added.map(String), known: processed.map(String) };
	}

	async remove(values: readonly string[]): Promise<void> {
		// n8n looks for each of them in its whole list, and nothing else gets a turn meanwhile.
		for (let from = 0; from < values.length; from += maxRemoved) {
			const some = values.slice(from, from + maxRemoved);
			await this.inTurn(
				async (helpers) => await helpers.removeProcessed(some, 'node', { mode: 'entries' }),
			);
		}
	}

	private async inTurn<T>(call: (helpers: IExecuteFunctions['helpers']) => Promise<T>): Promise<T> {
		const unlock = await lockAll([nodeIdOf(this.context)]);
		try {
			return await call(this.context.helpers);
		} finally {
			unlock?.();
		}
	}
}

/** The same in all executions. */
export const nodeIdOf = (context: IExecuteFunctions): string =>
	`${context.getWorkflow().id} ${context.getNode().id}`;
