import type { Places } from './places';
import { uniqueValue, type ProcessedItems } from './store';

/** A row, and how many places a run needs in it. */
export type Row = readonly [places: Places, count: number];

/** How often what was written is read again. */
const maxChecks = 5;

/** How many places that others have taken a run passes one by one. */
const maxSteps = 20;

/** How often a run begins again with what other workers overwrite. */
export const maxTries = 20;

/** The problem when that was not often enough. */
export const manyConflicts = 'Other workers wrote at the same moment, again and again';

interface Settings {
	/** Whether some values are of Order Keys, which a failed write must not use up. */
	hasKeys: boolean;
	/** Whether only one of several workers may write the same. */
	isClaiming: boolean;
	/** Whether nobody else can have written a value. */
	isOwn(value: string): boolean;
}

/**
 * Writes values and places into n8n's store, so that they stay there. The store is read, changed and written without a
 * lock, so they are read again after a moment, and written again where another worker has overwritten them.
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
		// If what is new is there, an earlier try only seemed to fail.
		const own = all.filter(this.settings.isOwn);
		const written = [...this.claims, ...all];
		const certain = [...this.claims, ...own];
		const known = await store
			.addNew(written, certain, { countsEntries: this.settings.hasKeys })
			.catch(async (error: unknown) => {
				// Not later: by then, another worker may have written the same for a Retry.
				await store.discard(own);
				throw error;
			});
		await this.complete(known);
		return known;
	}

	/**
	 * Makes sure that it stays.
	 * @param values those that belong to this run
	 * @returns whether its claims are still there; when another worker has written in the same moment, the run has lost
	 * contended places
	 */
	async finish(values: readonly string[]): Promise<boolean> {
		const { store, rows, claims } = this;
		let isLost = false;
		for (let checks = 0; checks < maxChecks && !isLost; checks++) {
			await store.waitForOthers();
			isLost = await this.hasLostPlaces();
			const all = [...values, ...rows.flatMap(([row]) => row.valuesFor(row.taken))];
			// Only now: a store that is trimmed while it is written does not show by its size what became of that.
			const { known } = await store.add(all, { trims: true });
			if (all.every((value) => known.has(value))) break;
		}
		await store.discard(claims);
		return !isLost;
	}

	/** Gives up the places that were written with a lost claim. @returns whether there was one */
	private async hasLostPlaces(): Promise<boolean> {
		const { claims, rows } = this;
		if (claims.length === 0) return false;
		const { known } = await this.store.add(claims);
		const lost = claims.filter((claim) => !known.has(claim));
		for (const [row] of rows) if (row.isContended) row.lose(lost);
		return lost.length > 0;
	}

	/** Moves rows further up where others have taken their places. @param known what was there before they were written */
	private async complete(known: ReadonlySet<string>): Promise<void> {
		const { rows, claims, store } = this;
		let short = rows.filter(([row, count]) => !row.wrote(count, known, claims[0]));
		for (let steps = 0; short.length > 0; steps++) {
			// Other workers may take a look-up for an order.
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
