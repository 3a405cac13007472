import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../client/httpClient';
import { isWorker } from '../execution/engineContext';
import { mode, portion, StoreCalls } from './storeCalls';

/** Entries that n8n keeps for a node, about 540 kB, besides those under way. */
export const maxEntries = 20_000;

/** Milliseconds for another worker between its read and its write: several times the slowest call of this run. */
const writeTime = { least: 200, most: 3_000, calls: 3 };

/**
 * n8n's store of processed items, for this node. It outlives the process, and every worker sees it. It holds hashes, the
 * newest last. Three rules keep in it what it guards:
 *
 * 1. A value can only be looked up by adding it. A look-up never trims, and takes back what it has added before the next
 *    portion. A kill may leave one portion behind. Where that would do harm, a fact is a value and its confirmation, which
 *    is looked up only where the value is there.
 * 2. Only the call that records what is kept trims the store to its newest entries. An order under way may still be
 *    refused, so it comes on top of these and pushes out nothing.
 * 3. What the database failed to remove is removed before anything else is done. Until then, every call fails.
 *
 * n8n reads, changes and writes all entries without a lock. So the executions of one process take turns here, and what
 * one records is checked again after a moment: another worker may have overwritten it.
 *
 * The methods repeat a call that fails, and throw n8n's error when that does not help (`StoreCalls`).
 */
export class ProcessedItems {
	/** How many entries this run has under way. */
	private own = 0;
	private readonly calls: StoreCalls;

	/** @param patience milliseconds that the calls of this run may pause in all */
	constructor(
		private readonly context: IExecuteFunctions,
		patience?: number,
	) {
		this.calls = new StoreCalls(context, patience);
	}

	/** @param mayHaveMore whether it may find others, too, when a call only seemed to fail. @returns the recorded values */
	async find(values: readonly string[], mayHaveMore = false): Promise<Set<string>> {
		const found = new Set<string>();
		for (let from = 0; from < values.length; from += portion) {
			const some = values.slice(from, from + portion);
			const claim = uniqueValue();
			const { known, failure } = await this.add([claim, ...some], { own: [claim] });
			if (failure !== undefined && !mayHaveMore) throw failure;
			await this.discard([claim, ...some.filter((value) => !known.has(value))]);
			for (const value of known) found.add(value);
		}
		return found;
	}

	async findFacts(facts: readonly string[]): Promise<Set<string>> {
		const found = [...(await this.find(facts, true))];
		const known = await this.confirmed(found);
		// A look-up left a fact without its confirmation behind, unless another worker is writing it.
		if (!this.isShared) await this.discard(found.filter((fact) => !known.has(fact)));
		return known;
	}

	/** @returns those whose confirmation is recorded */
	async confirmed(values: readonly string[]): Promise<Set<string>> {
		const confirmations = await this.find(values.map(confirmationOf));
		return new Set(values.filter((value) => confirmations.has(confirmationOf(value))));
	}

	/**
	 * Records values.
	 * @param own those that nobody else records
	 * @param trims whether to keep only the newest entries
	 * @param keeps how many these are
	 * @returns those that were recorded before; with a `failure`, all look so, because a failed try was committed
	 */
	async add(
		values: readonly string[],
		{
			own = [],
			trims = false,
			keeps = maxEntries,
		}: { own?: readonly string[]; trims?: boolean; keeps?: number } = {},
	): Promise<{ known: Set<string>; failure?: unknown }> {
		const { result, failure } = await this.calls.make(
			async ({ checkProcessedAndRecord }) =>
				await checkProcessedAndRecord([...values], 'node', {
					...mode,
					...(trims && { maxEntries: keeps + this.calls.node.underWay }),
				}),
		);
		const known = new Set(result.processed.map(String));
		const isUnclear = own.some((value) => known.has(value));
		return { known, ...(isUnclear && failure !== undefined && { failure }) };
	}

	/**
	 * Records values like {@link add}. It throws where a failed try was committed, unless the store has grown by all values,
	 * so that none was there before.
	 * @param countsEntries whether to find that out
	 * @returns those that were recorded before
	 */
	async addNew(
		values: readonly string[],
		own: readonly string[],
		{ countsEntries = true } = {},
	): Promise<ReadonlySet<string>> {
		const size = countsEntries ? await this.size() : undefined;
		const { known, failure } = await this.add(values, { own });
		if (failure === undefined) return known;
		if (size === undefined || (await this.size()) - size !== values.length) throw failure;
		return new Set();
	}

	/** Changes how many entries this run has under way. */
	expect(entries: number): void {
		this.own += entries;
		this.calls.node.underWay += entries;
	}

	/** No entry of this run is under way any more. */
	settle(): void {
		this.expect(-this.own);
	}

	/** Removes values. After an error, they are removed before the next call of any run of the node. */
	async remove(values: readonly string[]): Promise<void> {
		if (values.length === 0) return;
		this.removeLater(values);
		await this.calls.make(async () => {});
	}

	/** Removes values before the next call of any run of the node. */
	removeLater(values: readonly string[]): void {
		for (const value of values) this.calls.node.pending.add(value);
	}

	/** Removes values now. After an error, they stay where another worker may use them by the next call. */
	async removeNow(values: readonly string[]): Promise<void> {
		await this.remove(values).catch((error: unknown) => {
			if (this.isShared) for (const value of values) this.calls.node.pending.delete(value);
			throw error;
		});
	}

	/** Removes values that do no harm. The next call reports an error of the database. */
	async discard(values: readonly string[]): Promise<void> {
		await this.removeNow(values).catch(() => undefined);
	}

	/** Whether other processes write to the store at the same moment. */
	get isShared(): boolean {
		return isWorker(this.context);
	}

	/** Waits until any worker that read the store before the last write of this process has written. */
	async waitForOthers(): Promise<void> {
		if (!this.isShared) return;
		const { least, most, calls } = writeTime;
		await clock.sleep(Math.min(most, Math.max(least, calls * this.calls.slowest)));
	}

	async size(): Promise<number> {
		const { result } = await this.calls.make(
			async ({ getProcessedDataCount }) => await getProcessedDataCount('node', mode),
		);
		return result;
	}
}

export const uniqueValue = (): string => `claim ${randomUUID()}`;

const confirmationOf = (fact: string): string => `${fact}!`;

/** A fact and its confirmation. */
export const valuesOf = (fact: string): string[] => [fact, confirmationOf(fact)];
