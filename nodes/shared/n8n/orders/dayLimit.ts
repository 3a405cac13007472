import { randomUUID } from 'crypto';
import type { Store } from './store';

/** How often a worker may write over a claim before nothing is ordered. */
const maxTries = 5;

/** By node and day: the first place that may be free, as far as this process knows. */
const firstFree = new Map<string, number>();

/**
 * The places for orders of a node in one day, over all executions: whoever orders claims one first, and the last ones
 * are refused. A place that was claimed when n8n was killed stays claimed, since its order may have been sent.
 */
export class DayLimit {
	/** @param node see `nodeIdOf`  @param day its name */
	constructor(
		private readonly store: Store,
		private readonly node: string,
		private readonly day: string,
	) {}

	/**
	 * Claims up to `count` of the first `max` places.
	 * @returns those that it got
	 * @throws whatever n8n does where there is no store
	 */
	async claim(count: number, max: number): Promise<string[]> {
		const name = `${this.node} ${this.day}`;
		const first = firstFree.get(name) ?? 0;
		const claimed = await this.claimFrom(first, { count, max });
		const left = count - claimed.length;
		// An order that made nothing has given its place back.
		if (left > 0)
			claimed.push(...(await this.claimFrom(0, { count: left, max: Math.min(first, max) })));
		if (claimed.length > 0) {
			firstFree.delete(name);
			firstFree.set(name, numberOf(claimed[claimed.length - 1]) + 1);
		}
		// Of a process that runs for months, the days before are of no use.
		for (const known of firstFree.keys()) {
			if (known !== name && known.startsWith(`${this.node} `)) firstFree.delete(known);
		}
		return claimed;
	}

	async release(places: readonly string[]): Promise<void> {
		if (places.length > 0) await this.store.remove(places);
	}

	private async claimFrom(
		start: number,
		{ count, max }: { count: number; max: number },
	): Promise<string[]> {
		const claimed: string[] = [];
		let from = start;
		while (claimed.length < count && from < max) {
			const size = Math.min(count - claimed.length, max - from);
			const places = Array.from({ length: size }, (_, index) => this.placeOf(from + index));
			claimed.push(...(await this.record(places)));
			from += size;
		}
		return claimed;
	}

	/** @returns which of these places were free */
	private async record(places: readonly string[]): Promise<string[]> {
		const claims: string[] = [];
		try {
			for (let tries = 0; tries < maxTries; tries++) {
				const claim = `claim ${randomUUID()}`;
				claims.push(claim);
				const { added } = await this.store.record([claim, ...places]);
				// Where a worker wrote over the claim, it may have claimed the same places.
				const { added: lost } = await this.store.record([claim]);
				if (lost.length === 0) return added.filter((value) => value !== claim);
			}
		} finally {
			await this.store.remove(claims);
		}
		throw new Error('Other workers wrote at the same moment, again and again');
	}

	private placeOf(number: number): string {
		return `day ${this.day} ${number}`;
	}
}

const numberOf = (place: string) => Number(place.split(' ').at(-1));
