import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../client/httpClient';
import { isWorker } from '../execution/engineContext';
import { mode, portion, StoreCalls } from './storeCalls';

/** Entries that n8n keeps for a node: about 540 kB. What is under way comes on top of it. */
export const maxEntries = 20_000;

/**
 * Milliseconds that another worker may take between reading the store and writing it. Its calls are as slow as those of
 * this run, so that it gets several times as long as the slowest of these.
 */
const writeTime = { least: 200, most: 3_000, calls: 3 };

/**
 * n8n's store of processed items, for this node. It outlives the process, and every worker sees it. It holds hashes, the
 * newest last, and n8n reads and writes all of them in each call. Three rules keep in it what it guards:
 *
 * 1. A value can only be looked up by adding it. A look-up never trims, and takes back what it has added before the next
 *    portion. Where a portion that a kill leaves behind would do harm, a fact is a value and its
 *    confirmation, which is looked up only where the value is there.
 * 2. Only the call that records what is kept trims the store to its newest entries. Orders under way come on top of
 *    these: an order that may still be refused pushes out nothing.
 * 3. What could not be removed, because the database failed, is removed before anything else is done. Until then, every
 *    call fails.
 *
 * n8n reads, changes and writes without a lock. So the executions of one process take turns here, and what one
 * records is checked again after a moment, because a worker may have overwritten it.
 *
 * A call that fails is repeated for some seconds: of two workers that record the first orders of a node at the same
 * moment, n8n's database refuses one, and it may be restarting. The methods throw n8n's error when that does not help, and
 * at once where there is no store (`isStoreMissing`).
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

	/**
	 * @param mayHaveMore whether it may find more than that when a call only seemed to fail
	 * @returns those of the values that are recorded
	 */
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

	/** @returns those of the facts that are recorded */
	async findFacts(facts: readonly string[]): Promise<Set<string>> {
		const found = [...(await this.find(facts, true))];
		const known = await this.confirmed(found);
		// A fact without its confirmation was left behind by a look-up, unless another worker is writing it.
		if (!this.isShared) await this.discard(found.filter((fact) => !known.has(fact)));
		return known;
	}

	/** @returns those of the recorded values that are facts, because their confirmation is recorded, too */
	async confirmed(values: readonly string[]): Promise<Set<string>> {
		const confirmations = await this.find(values.map(confirmationOf));
		return new Set(values.filter((value) => confirmations.has(confirmationOf(value))));
	}

	/**
	 * Records values.
	 * @param own those of the values that nobody else records
	 * @param trims whether to keep only the newest entries
	 * @param keeps how many these are
	 * @returns those that were recorded before. With a `failure`, an earlier try was committed although it failed, so all
	 * of them look as if they had been there before
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
	 * Records values like {@link add}. It throws where an earlier try was committed although it failed, unless the store
	 * has grown by all values, so that none was there before.
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

	/** Changes how many entries this run has under way. The store keeps them besides its newest ones. */
	expect(entries: number): void {
		this.own += entries;
		this.calls.node.underWay += entries;
	}

	/** The outcomes of all orders of this run are known. */
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

	/**
	 * Removes values now. Where other workers write to the store, they stay after an error: another worker may use them by
	 * the time of the next call.
	 */
	async removeNow(values: readonly string[]): Promise<void> {
		await this.remove(values).catch((error: unknown) => {
			if (this.isShared) for (const value of values) this.calls.node.pending.delete(value);
			throw error;
		});
	}

	/** Removes values that do no harm for now: the next call reports an error. */
	async discard(values: readonly string[]): Promise<void> {
		await this.removeNow(values).catch(() => undefined);
	}

	/** Whether other processes write to the store at the same moment. */
	get isShared(): boolean {
		return isWorker(this.context);
	}

	/** Waits until a worker that had read the store before this process wrote to it has overwritten that. */
	async waitForOthers(): Promise<void> {
		if (!this.isShared) return;
		const { least, most, calls } = writeTime;
		await clock.sleep(Math.min(most, Math.max(least, calls * this.calls.slowest)));
	}

	/** The number of entries. */
	async size(): Promise<number> {
		const { result } = await this.calls.make(
			async ({ getProcessedDataCount }) => await getProcessedDataCount('node', mode),
		);
		return result;
	}
}

/** A value that no other call has. */
export const uniqueValue = (): string => `claim ${randomUUID()}`;

/** The value that confirms a fact. */
const confirmationOf = (fact: string): string => `${fact}!`;

/** The values of a fact. */
export const valuesOf = (fact: string): string[] => [fact, confirmationOf(fact)];
