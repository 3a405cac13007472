import { randomUUID } from 'crypto';
import { sumOf } from '../../gateway/prices';
import { lockAll } from './locks';
import type { Store } from './store';

/** How often a claim is tried when other workers overwrite it. After that, nothing is ordered. */
const maxTries = 5;

/** Divides what a limit counts, orders or cost, into numbered places. Each place is claimed as a whole. */
interface Scale {
	/** The beginning of the names of its places in n8n's store. */
	name: string;
	/** The amount that is counted once this place and all places before it are claimed. */
	endOf(place: number): number;
}

/** Each order takes one place. */
export const orderScale: Scale = { name: 'day', endOf: (place) => place + 1 };

/** Where the places of one decade of costs end, in hundredths of the beginning of that decade. */
const steps = [
	...Array.from({ length: 20 }, (_, index) => 105 + 5 * index),
	...Array.from({ length: 30 }, (_, index) => 210 + 10 * index),
	...Array.from({ length: 25 }, (_, index) => 520 + 20 * index),
];

/** The first place of the cost scale ends at 10 to this power. */
const firstPower = -3;

/**
 * After the first, a place is at most 5 % of all places before it. So a few hundred places are enough for any limit in
 * any currency. The places do not depend on the limit: when it is changed during a day, the claims still count.
 */
export const costScale: Scale = {
	name: 'cost of',
	endOf(place) {
		if (place === 0) return 10 ** firstPower;
		const decade = Math.floor((place - 1) / steps.length);
		const hundredths = steps[(place - 1) % steps.length];
		return sumOf([hundredths * 10 ** (decade + firstPower - 2)]);
	},
};

/** What this process has claimed of a limit in one day. */
interface HeldClaims {
	/** The first place that may be free, as far as this process knows. */
	firstFree: number;
	/** The newest is last. Together they are worth what was asked for, plus `unused`. */
	claimed: Array<{ place: number; worth: number }>;
	/** The amount that was claimed but not asked for, because places are claimed as a whole. */
	unused: number;
}

/** By node, scale and day. */
export const claimsByLimit = new Map<string, HeldClaims>();

/**
 * A limit on what a node orders in one day, across all executions and workers. Each order claims places before it is
 * sent, and no two orders get the same place. When n8n is killed, its places stay claimed, since the orders may have
 * been sent.
 */
export class DayLimit {
	/**
	 * @param node see `nodeIdOf`
	 * @param day see `Day.name`
	 */
	constructor(
		private readonly store: Store,
		private readonly node: string,
		private readonly day: string,
		private readonly scale: Scale,
	) {}

	/**
	 * Claims an amount, or as much of it as the limit `max` leaves.
	 * @returns the amount that it got
	 * @throws n8n's error where there is no store
	 */
	async claim(amount: number, max: number): Promise<number> {
		// A claim in progress may hold more than it needs for a moment, so the claims of one limit take turns.
		const unlock = await lockAll([this.name]);
		try {
			return await this.claimLocked(amount, max);
		} finally {
			unlock?.();
		}
	}

	private async claimLocked(amount: number, max: number): Promise<number> {
		const { held } = this;
		let got = this.takeUnused(amount, max);
		let taken = 0;
		try {
			const claimFrom = async (start: number, end: number) => {
				let from = start;
				// Doubled while no place is free: an n8n that has just started does not know which places are taken.
				let least = 1;
				while (got < amount && from < end && this.startOf(from) < max) {
					const places = this.placesFor(amount - got, { from, end, least, max });
					from += places.length;
					const worths = await this.record(places, max);
					got = sumOf([got, ...worths]);
					least = worths.length === 0 ? 2 * places.length : 1;
				}
				return from;
			};
			const { firstFree } = held;
			const next = await claimFrom(firstFree, Infinity);
			// Earlier places may be free again, after orders that made nothing.
			await claimFrom(0, firstFree);
			held.firstFree = Math.max(held.firstFree, next);
			taken = Math.min(got, amount);
		} finally {
			held.unused = sumOf([held.unused, got, -taken]);
		}
		await this.release(0);
		return taken;
	}

	/** Releases an amount that was claimed for orders that certainly made nothing. Only whole places become free. */
	async release(amount: number): Promise<void> {
		const { held } = this;
		held.unused = sumOf([held.unused, amount]);
		const released: number[] = [];
		for (;;) {
			const last = held.claimed.at(-1);
			if (!last || last.worth > held.unused) break;
			held.claimed.pop();
			held.unused = sumOf([held.unused, -last.worth]);
			released.push(last.place);
		}
		if (released.length > 0) await this.store.remove(released.map((place) => this.nameOf(place)));
	}

	/** Takes from what is unused of held places, unless these are above `max`: they may be from a higher limit. */
	private takeUnused(amount: number, max: number): number {
		const { held } = this;
		const last = held.claimed.at(-1);
		if (!last || this.startOf(last.place) >= max) return 0;
		const taken = Math.min(amount, held.unused);
		held.unused = sumOf([held.unused, -taken]);
		return taken;
	}

	/** The next places: as many as the amount takes if all of them are free. @param least minimum number of places */
	private placesFor(
		amount: number,
		{ from, end, least, max }: { from: number; end: number; least: number; max: number },
	): number[] {
		const places: number[] = [];
		let worth = 0;
		for (let place = from; place < end && this.startOf(place) < max; place++) {
			if (worth >= amount && places.length >= least) break;
			places.push(place);
			worth += this.worthOf(place, max);
		}
		return places;
	}

	/** Claims those of the places that are free. @returns what each claimed place is worth */
	private async record(places: readonly number[], max: number): Promise<number[]> {
		const names = new Map(places.map((place) => [this.nameOf(place), place]));
		const claims: string[] = [];
		try {
			for (let tries = 0; tries < maxTries; tries++) {
				const claim = `claim ${randomUUID()}`;
				claims.push(claim);
				const { added } = await this.store.record([claim, ...names.keys()]);
				// If the claim is gone, a worker has overwritten it, and may have claimed the same places.
				const { added: lost } = await this.store.record([claim]);
				if (lost.length > 0) continue;
				const claimed = added.flatMap((name) => names.get(name) ?? []);
				const worths = claimed.map((place) => this.worthOf(place, max));
				claimed.forEach((place, index) => this.held.claimed.push({ place, worth: worths[index] }));
				return worths;
			}
		} finally {
			await this.store.remove(claims);
		}
		throw new Error('Other workers wrote at the same moment, again and again');
	}

	private startOf(place: number): number {
		return place === 0 ? 0 : this.scale.endOf(place - 1);
	}

	/** The amount that the place adds; of a place that reaches above the limit, only the part below it. */
	private worthOf(place: number, max: number): number {
		return sumOf([Math.min(this.scale.endOf(place), max), -this.startOf(place)]);
	}

	private nameOf(place: number): string {
		return `${this.scale.name} ${this.day} ${place}`;
	}

	private get held(): HeldClaims {
		let held = claimsByLimit.get(this.name);
		if (!held) {
			// Earlier days are dropped, so that they do not add up in a process that runs for months.
			const ofNode = this.name.slice(0, -this.day.length);
			for (const known of claimsByLimit.keys())
				if (known.startsWith(ofNode)) claimsByLimit.delete(known);
			held = { firstFree: 0, claimed: [], unused: 0 };
			claimsByLimit.set(this.name, held);
		}
		return held;
	}

	private get name(): string {
		return `${this.node} ${this.scale.name} ${this.day}`;
	}
}
