import { randomUUID } from 'crypto';
import { sumOf } from '../../gateway/prices';
import { lockAll } from './locks';
import type { Store } from './store';

/** How often a worker may write over a claim before nothing is ordered. */
const maxTries = 5;

/** The places into which what a limit counts is divided, one after the other. */
interface Scale {
	/** Begins the names of its places in n8n's store. */
	name: string;
	/** What has been counted when a place and all before it are claimed. */
	endOf(place: number): number;
}

/** Each order takes a place. */
export const orderScale: Scale = { name: 'day', endOf: (place) => place + 1 };

/** By places of one decade of costs: where it ends, in hundredths. */
const steps = [
	...Array.from({ length: 20 }, (_, index) => 105 + 5 * index),
	...Array.from({ length: 30 }, (_, index) => 210 + 10 * index),
	...Array.from({ length: 25 }, (_, index) => 520 + 20 * index),
];

/** Where the first place of a cost ends: 10 to this power. */
const firstPower = -3;

/**
 * A place is at most 5 % of all before it. So a few hundred do for any limit in any currency, and all limits that a
 * node may have had in one day share them.
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
interface Purse {
	/** The first place that may be free, as far as this process knows. */
	firstFree: number;
	/** The newest is the last. What they are worth is what was asked for, and the change. */
	claimed: Array<{ place: number; worth: number }>;
	/** Claimed, and not asked for. */
	change: number;
}

/** By node, day and scale. */
export const purses = new Map<string, Purse>();

/**
 * A limit of what a node orders in one day, over all executions: whoever orders claims places first, and no two get the
 * same one. Places that were claimed when n8n was killed stay claimed, since the order may have been sent.
 */
export class DayLimit {
	/** @param node see `nodeIdOf`  @param day its name */
	constructor(
		private readonly store: Store,
		private readonly node: string,
		private readonly day: string,
		private readonly scale: Scale,
	) {}

	/**
	 * Claims an amount, or as much of it as a limit of `max` leaves.
	 * @returns what it got
	 * @throws whatever n8n does where there is no store
	 */
	async claim(amount: number, max: number): Promise<number> {
		// One that looks for places may claim too many for a moment.
		const unlock = await lockAll([this.name]);
		try {
			return await this.claimInTurn(amount, max);
		} finally {
			unlock?.();
		}
	}

	private async claimInTurn(amount: number, max: number): Promise<number> {
		const { purse } = this;
		let got = this.takeChange(amount, max);
		let taken = 0;
		try {
			const claimFrom = async (start: number, end: number) => {
				let from = start;
				// Doubled while no place is free: of thousands, an n8n that has just started knows none.
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
			const { firstFree } = purse;
			const next = await claimFrom(firstFree, Infinity);
			// An order that made nothing has given its place back.
			await claimFrom(0, firstFree);
			purse.firstFree = Math.max(purse.firstFree, next);
			taken = Math.min(got, amount);
		} finally {
			purse.change = sumOf([purse.change, got, -taken]);
		}
		await this.giveBack(0);
		return taken;
	}

	/** Returns what was claimed for orders that surely made nothing. */
	async giveBack(amount: number): Promise<void> {
		const { purse } = this;
		purse.change = sumOf([purse.change, amount]);
		const released: number[] = [];
		for (;;) {
			const last = purse.claimed.at(-1);
			if (!last || last.worth > purse.change) break;
			purse.claimed.pop();
			purse.change = sumOf([purse.change, -last.worth]);
			released.push(last.place);
		}
		if (released.length > 0) await this.store.remove(released.map((place) => this.nameOf(place)));
	}

	/** What is left of the last places, unless they lie above the limit, as they may under one that was higher. */
	private takeChange(amount: number, max: number): number {
		const { purse } = this;
		const last = purse.claimed.at(-1);
		if (!last || this.startOf(last.place) >= max) return 0;
		const taken = Math.min(amount, purse.change);
		purse.change = sumOf([purse.change, -taken]);
		return taken;
	}

	/** The next places, as many as an amount takes when all of them are free. @param least how many there are to be */
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

	/** Claims those of these places that are free. @returns what they are worth */
	private async record(places: readonly number[], max: number): Promise<number[]> {
		const names = new Map(places.map((place) => [this.nameOf(place), place]));
		const claims: string[] = [];
		try {
			for (let tries = 0; tries < maxTries; tries++) {
				const claim = `claim ${randomUUID()}`;
				claims.push(claim);
				const { added } = await this.store.record([claim, ...names.keys()]);
				// Where a worker wrote over the claim, it may have claimed the same places.
				const { added: lost } = await this.store.record([claim]);
				if (lost.length > 0) continue;
				const claimed = added.flatMap((name) => names.get(name) ?? []);
				const worths = claimed.map((place) => this.worthOf(place, max));
				claimed.forEach((place, index) => this.purse.claimed.push({ place, worth: worths[index] }));
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

	/** Under a limit that ends within the place, what is below it. */
	private worthOf(place: number, max: number): number {
		return sumOf([Math.min(this.scale.endOf(place), max), -this.startOf(place)]);
	}

	private nameOf(place: number): string {
		return `${this.scale.name} ${this.day} ${place}`;
	}

	private get purse(): Purse {
		let purse = purses.get(this.name);
		if (!purse) {
			// Of a process that runs for months, the days before are of no use.
			const ofNode = this.name.slice(0, -this.day.length);
			for (const known of purses.keys()) if (known.startsWith(ofNode)) purses.delete(known);
			purse = { firstFree: 0, claimed: [], change: 0 };
			purses.set(this.name, purse);
		}
		return purse;
	}

	private get name(): string {
		return `${this.node} ${this.scale.name} ${this.day}`;
	}
}
