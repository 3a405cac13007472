import { NewestEntries, remembered } from '../execution/processMemory';
import { maxEntries, valuesOf, type ProcessedItems } from './store';

/** How many places one look-up takes at first, and then. */
const [firstWindow, nextWindow] = [10, 500];

/** How many places lie between those that are looked up to find where a row ends: n8n's store drops the oldest. */
const step = 100;

const maxRows = 2_000;

/** By row: the first place that was free when this process last looked. */
const tops = () => remembered('tops', () => new NewestEntries<number>(maxRows));

/**
 * A row of places in n8n's store, which counts what all executions and workers have ordered: each request takes the next
 * free place, so the first free one is the count.
 *
 * A run writes its places and reads them again. It moves up where another worker took them, and writes again what another
 * worker overwrote. Two workers that write in the same moment may take the same place.
 */
export class Places {
	/** The places of this run, each with the claim under which it was written. */
	private written: Array<{ place: number; claim?: string }> = [];

	/** @param name unique among all rows of all nodes: part of each value */
	constructor(
		private readonly store: ProcessedItems,
		private readonly name: string,
		private readonly to: {
			/** Whether several executions and workers take and free its places in the same moment. */
			isContended: boolean;
			/** Maximum number of places; default: as many as n8n's store has entries. */
			max?: number;
		},
	) {}

	get isContended(): boolean {
		return this.to.isContended;
	}

	/** How many places others had when this process last looked; undefined if it never has. */
	get others(): number | undefined {
		const { top, taken, own } = this;
		if (top === undefined) return undefined;
		return Math.max(top, ...own.map((place) => place + 1)) - taken;
	}

	/** How many places this run has. */
	get taken(): number {
		return this.written.length;
	}

	/** Looks up how many places are taken. @param fromStart whether to forget what this process knew of it */
	async count(fromStart = false): Promise<number> {
		const top = fromStart ? 0 : (this.top ?? 0);
		if (top > 0) {
			const free = await this.firstFree(top - 1);
			if (free >= top) return (this.top = free);
		}
		const { max = maxEntries } = this.to;
		const steps = Array.from({ length: max / step }, (_, index) => index * step);
		const found = await this.look(steps, true);
		const taken = steps.filter((place) => found.has(this.valueOf(place)));
		const last = taken.at(-1);
		if (last === undefined) return (this.top = 0);
		const free = await this.firstFree(Math.max(0, last - 1));
		if (free > last) return (this.top = free);
		// A kill or a failed look-up may have left steps behind. A taken place comes after another one.
		const before = taken.filter((place) => place > 0).map((place) => place - 1);
		const known = await this.look(before, this.isContended);
		const end = taken.findLast((place) => place === 0 || known.has(this.valueOf(place - 1)));
		return (this.top = await this.firstFree((end ?? last) + 1));
	}

	/** The values to be written so that this run has this many places. */
	valuesFor(count: number): string[] {
		return [...this.own, ...this.next(count)].flatMap((place) => this.valuesAt(place));
	}

	valuesUpTo(count: number): string[] {
		return Array.from({ length: count }, (_, place) => this.valuesAt(place)).flat();
	}

	/**
	 * The values of {@link valuesFor} were written.
	 * @param known those that were there before
	 * @param claim written with them, see `Write`
	 * @returns whether this run now has this many places
	 */
	wrote(count: number, known: ReadonlySet<string>, claim?: string): boolean {
		for (const place of this.next(count)) {
			// A look-up may leave its first value behind, but not its last.
			const isTaken = known.has(this.valuesAt(place).at(-1) as string);
			if (!isTaken) this.written.push({ place, claim });
			this.top = place + 1;
		}
		return this.taken >= count;
	}

	/** Another worker has overwritten what this run has written under these claims. */
	lose(claims: readonly string[]): void {
		const isLost = ({ claim = '' }) => claims.includes(claim);
		const lost = this.written.filter(isLost).map(({ place }) => place);
		this.written = this.written.filter((own) => !isLost(own));
		this.top = Math.min(...lost, this.top ?? 0);
	}

	async free(count: number): Promise<void> {
		const freed = this.written.splice(Math.max(0, this.taken - Math.max(0, count)));
		if (freed.length === 0) return;
		const { top = 0 } = this;
		// From the top, so that the row has no gap. Two workers would free the same ones there, so they leave gaps.
		const places =
			this.isContended && this.store.isShared
				? freed.map(({ place }) => place)
				: freed.map((_, index) => top - 1 - index);
		this.top = Math.min(top, ...places);
		await this.store.remove(places.flatMap((place) => this.valuesAt(place)));
	}

	private async firstFree(from: number): Promise<number> {
		for (let [start, size] = [from, firstWindow]; ; [start, size] = [start + size, nextWindow]) {
			const places = Array.from({ length: size }, (_, index) => start + index);
			const known = await this.look(places, this.isContended);
			const free = places.find((place) => !known.has(this.valueOf(place)));
			if (free !== undefined) return free;
		}
	}

	/** @returns the values of those of the places that are taken */
	private async look(places: readonly number[], areFacts: boolean): Promise<Set<string>> {
		const { store, top = Infinity } = this;
		const values = places.map((place) => this.valueOf(place));
		return await (areFacts ? store.findFacts(values) : store.find(values)).catch(
			(error: unknown) => {
				// What a failed look-up left behind would count. In one process, no run has places above the known ones.
				const free = places.filter((place) => place >= top);
				if (!store.isShared) store.removeLater(free.flatMap((place) => this.valuesAt(place)));
				throw error;
			},
		);
	}

	/**
	 * The places of this run. In one process they are the last ones of the row, whichever it has written: another run may
	 * have freed these, and left it earlier ones.
	 */
	private get own(): number[] {
		const { written, top = 0 } = this;
		if (this.store.isShared) return written.map(({ place }) => place);
		const first = Math.max(0, top - written.length);
		return written.map((_, index) => first + index);
	}

	/** The places that this run would take now to have this many. */
	private next(count: number): number[] {
		const { top = 0, taken } = this;
		return Array.from({ length: Math.max(0, count - taken) }, (_, index) => top + index);
	}

	private get top(): number | undefined {
		return tops().get(this.name);
	}

	private set top(top: number) {
		tops().set(this.name, top);
	}

	private valueOf(place: number): string {
		return `${this.name} ${place}`;
	}

	/** Places that are looked up before they are taken are facts: a look-up or a kill cannot leave them behind. */
	private valuesAt(place: number): string[] {
		const isFact = this.isContended || place % step === 0;
		return isFact ? valuesOf(this.valueOf(place)) : [this.valueOf(place)];
	}
}
