import type { Places } from './places';
import { uniqueValue, type ProcessedItems } from './store';

/** A row, and how many places a run needs in it. */
export type Row = readonly [places: Places, count: number];

/** How often what was written is read again. */
const maxChecks = 5;

/** How many taken places a run passes one by one. */
const maxSteps = 20;

/** How often a run begins again with what other workers overwrite. */
export const maxTries = 20;

export const manyConflicts = 'Other workers wrote at the same moment, again and again';

interface Settings {
	/** Whether some values are of Order Keys, which a failed write must not use up. */
	hasKeys: boolean;
	/** Whether only one of several workers may write the same. */
	isClaiming: boolean;
	/** Whether no other run can have written a value. */
	isOwn(value: string): boolean;
}

/**
 * Writes values and places into n8n's store, so that they stay: n8n has no lock, so they are read again after a moment,
 * and written again where another worker has overwritten them.
 */
export class Write {
	/** Values that are written with the rest. The last of several workers that write in the same moment finds its own. */
	private readonly claims: string[];

	constructor(
		private readonly store: ProcessedItems,
		private readonly rows: readonly Row[],
		private readonly settings: Settings,
	) {
		this.claims = settings.isClaiming ? [uniqueValue()] : [];
	}

	/**
	 * Writes values that may be there already, and the places.
	 * @returns those that were there before
	 */
	async begin(values: readonly string[]): Promise<ReadonlySet<string>> {
		const { store } = this;
		const all = [...values, ...this.rows.flatMap(([row, count]) => row.valuesFor(count))];
		store.expect(all.length);
		const own = all.filter(this.settings.isOwn);
		const written = [...this.claims, ...all];
		const certain = [...this.claims, ...own];
		const known = await store
			.addNew(written, certain, { countsEntries: this.settings.hasKeys })
			.catch(async (error: unknown) => {
				// By the next call, another worker may have written the same for a Retry.
				await store.discard(own);
				throw error;
			});
		await this.complete(known);
		return known;
	}

	/**
	 * Makes sure that it stays.
	 * @param values those that belong to this run
	 * @returns false if another worker wrote in the same moment, so that the run has lost its claims and contended places
	 */
	async finish(values: readonly string[]): Promise<boolean> {
		const { store, rows, claims } = this;
		let isLost = false;
		for (let checks = 0; checks < maxChecks && !isLost; checks++) {
			await store.waitForOthers();
			isLost = await this.hasLostPlaces();
			const all = [...values, ...rows.flatMap(([row]) => row.valuesFor(row.taken))];
			// Trimmed only now: `addNew` compares sizes.
			const { known } = await store.add(all, { trims: true });
			if (all.every((value) => known.has(value))) break;
		}
		await store.discard(claims);
		return !isLost;
	}

	/** Gives up the places that were written with a lost claim. */
	private async hasLostPlaces(): Promise<boolean> {
		const { claims, rows } = this;
		if (claims.length === 0) return false;
		const { known } = await this.store.add(claims);
		const lost = claims.filter((claim) => !known.has(claim));
		for (const [row] of rows) if (row.isContended) row.lose(lost);
		return lost.length > 0;
	}

	/** Moves rows up where others have taken their places. @param known what was there before they were written */
	private async complete(known: ReadonlySet<string>): Promise<void> {
		const { rows, claims, store } = this;
		let short = rows.filter(([row, count]) => !row.wrote(count, known, claims[0]));
		for (let steps = 0; short.length > 0; steps++) {
			// A look-up could be taken for an order by other workers.
			const isStepwise = claims.length > 0 && steps < maxSteps;
			for (const [row] of short) if (!isStepwise) await row.count();
			const claim = claims.length > 0 ? [uniqueValue()] : [];
			claims.push(...claim);
			const places = short.flatMap(([row, count]) => row.valuesFor(count));
			const next = await store.add([...claim, ...places]);
			short = short.filter(([row, count]) => !row.wrote(count, next.known, claim[0]));
		}
	}
}
