import type { IExecuteFunctions } from 'n8n-workflow';
import { valueAt } from '../../service/json';
import { clock, stopSignalOf } from '../client/httpClient';
import { remembered } from '../execution/processMemory';
import { lockAll } from './locks';

/** How many values one call looks up or removes: n8n searches its whole list for each, and blocks the event loop. */
export const portion = 500;

/** Milliseconds before a failed call is repeated for the first time, and at most. Each pause is twice as long as the last. */
const [firstPause, longestPause] = [100, 3_200];

/** Milliseconds that the calls of one run may pause in all: a restarting database is back by then. */
const maxPause = 25_000;

export const mode = { mode: 'entries' } as const;

/** Shared by the runs of a node in this process. */
interface NodeState {
	/** Values still to be removed. */
	readonly pending: Set<string>;
	/** How many entries are of orders whose outcome is not known yet. */
	underWay: number;
}

type Call<T> = (helpers: IExecuteFunctions['helpers']) => Promise<T>;

export class StoreCalls {
	/** Milliseconds. */
	slowest = 0;
	readonly node: NodeState;

	/** @param patience milliseconds that are left for pauses */
	constructor(
		private readonly context: IExecuteFunctions,
		private patience = maxPause,
	) {
		const name = `store of ${nodeIdOf(context)}`;
		this.node = remembered(name, () => ({ pending: new Set<string>(), underWay: 0 }));
	}

	/**
	 * Makes a call, and repeats it for some seconds when it fails: of two workers that record the first orders of a node at
	 * the same moment, n8n's database refuses one. Other runs of the node take their turn in the pauses.
	 * @returns its result, and the error of the last try before, if there was one
	 * @throws n8n's error, at once where there is no store
	 */
	async make<T>(call: Call<T>): Promise<{ result: T; failure?: unknown }> {
		let failure: unknown;
		for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
			try {
				return { result: await this.callOnce(call), failure };
			} catch (error) {
				failure = error;
			}
			if (isStoreMissing(failure) || pause > this.patience) throw failure;
			this.patience -= pause;
			await clock.sleep(pause, stopSignalOf(this.context)).catch(() => {
				throw failure;
			});
		}
	}

	private async callOnce<T>(call: Call<T>): Promise<T> {
		const { helpers } = this.context;
		if (typeof helpers.checkProcessedAndRecord !== 'function')
			throw new StoreMissing('this engine has no store of processed items');
		const unlock = await lockAll([nodeIdOf(this.context)]);
		try {
			const { pending } = this.node;
			while (pending.size > 0) {
				const some = [...pending].slice(0, portion);
				await helpers.removeProcessed(some, 'node', mode);
				for (const value of some) pending.delete(value);
			}
			const begin = clock.now();
			const result = await call(helpers);
			this.slowest = Math.max(this.slowest, clock.now() - begin);
			return result;
		} finally {
			unlock?.();
		}
	}
}

/** Identifies the node across all executions. */
export const nodeIdOf = (context: IExecuteFunctions): string =>
	`${context.getWorkflow().id} ${context.getNode().id}`;

class StoreMissing extends Error {}

/**
 * Whether n8n has no store for the node: in an engine without a database, and in a workflow that was never saved, where
 * n8n asserts an ID or its database knows no such workflow.
 */
export function isStoreMissing(error: unknown): boolean {
	const isAsserted = valueAt(error, 'code') === 'ERR_ASSERTION';
	const isUnsaved = /foreign key/i.test(String(valueAt(error, 'message')));
	return error instanceof StoreMissing || isAsserted || isUnsaved;
}
