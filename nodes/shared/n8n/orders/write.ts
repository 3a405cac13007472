import type { Places } from './places';
import { uniqueValue, type ProcessedItems } from './store';

/** A row, and how many places a run needs in it. */
export type Row = readonly [places: Places, count: number];

/** A value that is written with the rest. The last of several workers that write in the same moment finds its own. */
interface Claim {
	value: string;
	/** How many places the run had in each row before. */
	taken: number[];
}

/** How often what was written is read again. */
const maxChecks = 5;

/** How many places that others have taken a run passes one by one. */
const maxSteps = 20;

interface Settings {
	/** Whether only one of several workers may write the same. */
	isClaiming: boolean;
	/** Whether the size of the store shows what became of a write that only seems to have failed. */
	isMeasured?: boolean;
	/** Whether nobody else can have written a value. */
	isOwn(value: string): boolean;
}

/**
 * Writes values and places into n8n's store, so that they stay there. The store is read, changed and written without a
 * lock, so they are read again after a moment, and written again where another worker has overwritten them.
 */
export class Write {
	private readonly claims: Claim[];

	constructor(
		private readonly store: ProcessedItems,
		private readonly rows: readonly Row[],
		private readonly settings: Settings,
	) {
		this.claims = settings.isClaiming ? [this.newClaim()] : [];
	}

	/**
	 * Writes values that may be there already, and the places.
	 * @returns those that were there before
	 */
	async begin(values: readonly string[]): Promise<ReadonlySet<string>> {
		const { store } = this;
		const all = [...values, ...this.places];
		store.expect(all.length);
		// If what is new is there, an earlier try only seemed to fail.
		const own = all.filter(this.settings.isOwn);
		const sizeBefore = this.settings.isMeasured ? await store.size() : undefined;
		const written = [...this.claimValues, ...all];
		const known = await store
			.add(written, { own: [...this.claimValues, ...own], trims: true })
			.then(async (result) => {
				if (result.failure === undefined) return result.known;
				// An earlier try was written although it failed. If the store has grown by all of it, nothing was there before.
				const growth = sizeBefore === undefined ? 0 : (await store.size()) - sizeBefore;
				if (growth !== written.length) throw result.failure;
				return new Set<string>();
			})
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
	 * @param isLasting whether a value still belongs to it when another worker has written in the same moment
	 * @returns whether all of them and the places still belong to it
	 */
	async finish(values: readonly string[], isLasting: (value: string) => boolean): Promise<boolean> {
		const { store } = this;
		let isLost = false;
		for (let checks = 0; checks < maxChecks; checks++) {
			await store.waitForOthers();
			isLost = await this.hasLostPlaces();
			const own = isLost ? values.filter(isLasting) : values;
			const { known } = await store.add([...own, ...(isLost ? this.ownPlaces : this.places)]);
			if (isLost) break;
			if ((await this.complete(known)) && own.every((value) => known.has(value))) break;
		}
		await store.discard(this.claimValues);
		return !isLost;
	}

	/** Gives up the places that were written with a lost claim. @returns whether there was one */
	private async hasLostPlaces(): Promise<boolean> {
		const { claims, rows } = this;
		if (claims.length === 0) return false;
		const { known } = await this.store.add(this.claimValues);
		for (const [at, [row]] of rows.entries()) {
			const lost = claims.flatMap(({ value, taken }, index) =>
				known.has(value) ? [] : row.ownFrom(taken[at], claims[index + 1]?.taken[at]),
			);
			if (row.isContended) row.lost(lost);
		}
		return known.size < claims.length;
	}

	/**
	 * Moves rows further up where others have taken their places.
	 * @param known what was there when their places were written
	 * @returns whether there was nothing to do
	 */
	private async complete(known: ReadonlySet<string>): Promise<boolean> {
		const { rows, claims, store } = this;
		let short = rows.filter(([row, count]) => !row.wrote(count, known));
		const areComplete = short.length === 0;
		let steps = 0;
		while (short.length > 0) {
			// Other workers may take a look-up for an order.
			const isStepwise = claims.length > 0 && steps++ < maxSteps;
			for (const [row] of short) if (!isStepwise) await row.count();
			const claim = claims.length === 0 ? [] : [this.newClaim()];
			claims.push(...claim);
			const places = short.flatMap(([row, count]) => row.valuesFor(count));
			const next = await store.add([...claim.map(({ value }) => value), ...places]);
			short = short.filter(([row, count]) => !row.wrote(count, next.known));
		}
		return areComplete;
	}

	private get places(): string[] {
		return this.rows.flatMap(([row, count]) => row.valuesFor(count));
	}

	private get ownPlaces(): string[] {
		return this.rows.flatMap(([row]) => row.valuesFor(row.taken));
	}

	private get claimValues(): string[] {
		return this.claims.map(({ value }) => value);
	}

	private newClaim(): Claim {
		return { value: uniqueValue(), taken: this.rows.map(([row]) => row.taken) };
	}
}
