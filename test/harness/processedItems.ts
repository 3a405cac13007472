import { DataDeduplicationService } from 'n8n-core';
import type {
	DeduplicationItemTypes,
	ICheckProcessedContextData,
	ICheckProcessedOptions,
	IDataDeduplicator,
	IDeduplicationOutput,
} from 'n8n-workflow';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { processMemory } from '../../nodes/shared/n8n/execution/processMemory';
import { currentProcess } from './process';

type Call = 'record' | 'remove';
type Snapshot = ReadonlyMap<string, string[]>;

/**
 * n8n's store of processed items, which the engine alone does not have. Like the one of n8n 2.40.7, it keeps a list of
 * hashes for each node of a saved workflow, and reads, changes and writes it without a lock.
 */
class ProcessedItems implements IDataDeduplicator {
	readonly calls: Call[] = [];
	/** Called before the store responds. A test can make it throw or never return. */
	intercept: (call: Call) => Promise<void> | void = () => {};
	/** Called before the store reads. A test can make it throw: nothing is written then. */
	precede: (call: Call | 'count') => Promise<void> | void = () => {};
	/**
	 * How many entries of n8n's store one entry stands for, so that a short list is large against the store: the store
	 * keeps this part of `maxEntries`.
	 */
	scale = 1;
	private readonly rows = new Map<string, string[]>();

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		_: unknown,
		context: ICheckProcessedContextData,
		{ maxEntries = Infinity }: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		await this.precede('record');
		const { row, entries } = await this.read(context);
		const isKnown = (item: DeduplicationItemTypes) => entries.includes(hashOf(item));
		const output = {
			new: items.filter((item) => !isKnown(item)),
			processed: items.filter(isKnown),
		};
		const all = [...entries, ...output.new.map(hashOf)];
		this.rows.set(row, all.slice(Math.max(0, all.length - Math.floor(maxEntries / this.scale))));
		await this.respond('record');
		return output;
	}

	async removeProcessed(
		items: DeduplicationItemTypes[],
		_: unknown,
		context: ICheckProcessedContextData,
	): Promise<void> {
		await this.precede('remove');
		const { row, entries } = await this.read(context);
		const removed = new Set(items.map(hashOf));
		this.rows.set(
			row,
			entries.filter((entry) => !removed.has(entry)),
		);
		await this.respond('remove');
	}

	async clearAllProcessedItems(_: unknown, context: ICheckProcessedContextData): Promise<void> {
		this.rows.delete((await this.read(context)).row);
	}

	async getProcessedDataCount(_: unknown, context: ICheckProcessedContextData): Promise<number> {
		await this.precede('count');
		return (await this.read(context)).entries.length;
	}

	/** All entries of all nodes. */
	get size(): number {
		return [...this.rows.values()].flat().length;
	}

	/** Adds entries to every existing row. */
	fill(values: string[]): void {
		for (const [row, entries] of this.rows) this.rows.set(row, [...entries, ...values.map(hashOf)]);
	}

	/** Loads the entries that another n8n has recorded for a node, in the form in which n8n stores them. */
	load(workflowId: string, nodeId: string, entries: string[]): void {
		this.rows.set(`${workflowId} ${nodeId}`, [...entries]);
	}

	/** Overwrites the store like another worker that has read it in an earlier state; by default, it was empty then. */
	writeOver(earlier: Snapshot = new Map()): void {
		this.rows.clear();
		for (const [row, entries] of earlier) this.rows.set(row, entries);
	}

	get snapshot(): Snapshot {
		return new Map(this.rows);
	}

	/** Empties the store, and the memory of the process, which knows its state. */
	clear(): void {
		processMemory.clear();
		this.rows.clear();
		this.calls.length = 0;
		this.intercept = () => {};
		this.precede = () => {};
		this.scale = 1;
	}

	private async read({ workflow, node }: ICheckProcessedContextData) {
		if (currentProcess()?.isKilled) throw new Error('This process of n8n was killed');
		assert.ok(workflow.id);
		const row = `${workflow.id} ${node?.id}`;
		const entries = this.rows.get(row) ?? [];
		// The database is asynchronous, so another execution may read the same in the meantime.
		await Promise.resolve();
		return { row, entries };
	}

	private async respond(call: Call): Promise<void> {
		this.calls.push(call);
		await this.intercept(call);
	}
}

const hashOf = (item: DeduplicationItemTypes) =>
	createHash('md5').update(item.toString()).digest('base64');

export const processedItems = new ProcessedItems();

void DataDeduplicationService.init(processedItems);
