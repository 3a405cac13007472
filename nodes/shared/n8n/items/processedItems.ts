import type { IExecuteFunctions } from 'n8n-workflow';

/** Of the entries of a node, n8n keeps the newest. It reads and writes all of them each time: about 270 kB. */
const maxEntries = 10_000;

/** How often it is looked whether what was recorded is still there. */
const maxLooks = 3;

/** The last call for each node: n8n reads, changes and writes a node's entries without a lock. */
const lastCalls = new Map<string, Promise<unknown>>();

/**
 * n8n's store of processed items, of this node. What it records is in n8n's database at once, and every worker sees
 * it. It holds hashes, so it can only tell whether a value is there. Executions of one process take turns; what a worker
 * at the very same moment has written over is recorded again.
 * @throws whatever n8n does where there is no store: for a workflow that was never saved, or without its database
 */
export class ProcessedItems {
	constructor(private readonly context: IExecuteFunctions) {}

	/** Records all values. @returns those that had been recorded before */
	async record(values: string[]): Promise<Set<string>> {
		if (values.length === 0) return new Set();
		const { processed } = await this.add(values);
		for (let looks = 0; looks < maxLooks; looks++) {
			const { new: lost } = await this.add(values);
			if (lost.length === 0) break;
		}
		return new Set(processed.map(String));
	}

	async remove(values: string[]): Promise<void> {
		if (values.length === 0) return;
		await this.inTurn(
			async (helpers) => await helpers.removeProcessed(values, 'node', { mode: 'entries' }),
		);
	}

	private async add(values: string[]) {
		return await this.inTurn(
			async (helpers) =>
				await helpers.checkProcessedAndRecord(values, 'node', {
					mode: 'entries',
					// Those of this run may be taken out again, and are not to push out older ones.
					maxEntries: maxEntries + values.length,
				}),
		);
	}

	private async inTurn<T>(call: (helpers: IExecuteFunctions['helpers']) => Promise<T>): Promise<T> {
		const { context } = this;
		const node = `${context.getWorkflow().id}:${context.getNode().id}`;
		const earlier = lastCalls.get(node) ?? Promise.resolve();
		const own = earlier.catch(() => undefined).then(async () => await call(context.helpers));
		lastCalls.set(node, own);
		try {
			return await own;
		} finally {
			if (lastCalls.get(node) === own) lastCalls.delete(node);
		}
	}
}
