import type { IExecuteFunctions } from 'n8n-workflow';
import { lockAll } from './locks';

/** n8n keeps the newest entries of a node. It reads and writes all of them on each call: about 270 kB. */
const maxEntries = 10_000;

/** How many entries one call removes. */
const maxRemoved = 500;

/**
 * n8n's store of processed items, for this node. It outlives the process, and every worker sees it. It only holds hashes,
 * and a value can only be looked up by recording it.
 *
 * n8n reads, changes and writes a node's entries without a lock. So the executions of one process take turns here; a
 * worker that writes at the same moment may still overwrite what this process recorded.
 *
 * Its methods throw n8n's error where there is no store: in a workflow that was never saved, or without a database.
 */
export class Store {
	constructor(private readonly context: IExecuteFunctions) {}

	/** Records these values. @returns `added`: those that were not recorded before; `known`: those that were */
	async record(values: readonly string[]): Promise<{ added: string[]; known: string[] }> {
		const options = {
			mode: 'entries',
			// These values may be removed again, so they must not push out older entries.
			maxEntries: maxEntries + values.length,
		} as const;
		const { new: added, processed } = await this.withLock(
			async (helpers) => await helpers.checkProcessedAndRecord([...values], 'node', options),
		);
		return { added: added.map(String), known: processed.map(String) };
	}

	async remove(values: readonly string[]): Promise<void> {
		// n8n searches its whole list for each value, and blocks the event loop meanwhile.
		for (let from = 0; from < values.length; from += maxRemoved) {
			const some = values.slice(from, from + maxRemoved);
			await this.withLock(
				async (helpers) => await helpers.removeProcessed(some, 'node', { mode: 'entries' }),
			);
		}
	}

	private async withLock<T>(
		call: (helpers: IExecuteFunctions['helpers']) => Promise<T>,
	): Promise<T> {
		const unlock = await lockAll([nodeIdOf(this.context)]);
		try {
			return await call(this.context.helpers);
		} finally {
			unlock?.();
		}
	}
}

/** Identifies the node across all executions. */
export const nodeIdOf = (context: IExecuteFunctions): string =>
	`${context.getWorkflow().id} ${context.getNode().id}`;
