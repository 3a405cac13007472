import { hashOf } from './identity';
import type { Wish } from './order';
import { manyConflicts, uniqueValue, valuesOf, type ProcessedItems } from './store';

/** The names of an Order Key: the one that is written, and the second one of release 1.0. */
const names = ['a', 'b'];
const factsOf = ({ key }: Wish) => names.map((name) => `key ${name} ${key}`);
const requestsOf = ({ key, request }: Wish) =>
	names.map((name) => `request ${name} ${hashOf([key, request])}`);
/**
 * Only the worker that orders with the key writes this value, after it has taken the key. Unlike the others, it is never
 * looked up.
 */
export const wonOf = (wish: Wish): string => `${factsOf(wish)[0]} won`;

/** The values that a used Order Key has in n8n's store. */
export const keyValuesOf = (wish: Wish): string[] => [
	...valuesOf(factsOf(wish)[0]),
	requestsOf(wish)[0],
	wonOf(wish),
];

/** All values that it may have. */
export const allKeyValuesOf = (wish: Wish): string[] => [
	...factsOf(wish).flatMap(valuesOf),
	...requestsOf(wish),
	wonOf(wish),
];

export const isOfKey = (value: string): boolean => /^(?:key|request) /.test(value);

/** How often a run takes its Order Keys again where another worker has overwritten its claim. */
const maxTries = 20;

/** Which Order Keys others have used, as far as a run has looked. */
export class OrderKeys {
	private readonly used = new Set<string>();
	/** The requests for which they were used. */
	private readonly requests = new Set<string>();

	constructor(private readonly store: ProcessedItems) {}

	/** How the Order Key of a wish was used: for the same request, or for another one. */
	useOf(wish: Wish): 'free' | 'same' | 'other' {
		const { key = '' } = wish;
		if (!this.used.has(key)) return 'free';
		return requestsOf(wish).some((value) => this.requests.has(value)) ? 'same' : 'other';
	}

	/** Looks up the Order Keys of wishes. */
	async find(wishes: readonly Wish[]): Promise<void> {
		const { store } = this;
		let facts = await store.find([...new Set(wishes.flatMap(factsOf))]);
		if (facts.size > 0 && store.isShared) {
			// A look-up of another worker is gone after a moment.
			await store.waitForOthers();
			facts = await store.find([...facts]);
		}
		const confirmed = await store.confirmed([...facts]);
		const used = wishes.filter((wish) => factsOf(wish).some((fact) => confirmed.has(fact)));
		for (const { key = '' } of used) this.used.add(key);
		const requests = await store.find([...new Set(used.flatMap(requestsOf))]);
		for (const request of requests) this.requests.add(request);
	}

	/**
	 * The values of the Order Key of this wish were written.
	 * @param known what was there before
	 * @returns whether the key is another's
	 */
	isTaken(wish: Wish, known: ReadonlySet<string>): boolean {
		const { key = '' } = wish;
		const [request] = requestsOf(wish);
		const isUsed = valuesOf(factsOf(wish)[0]).every((value) => known.has(value));
		if (isUsed) this.used.add(key);
		if (isUsed && known.has(request)) this.requests.add(request);
		return isUsed;
	}

	/**
	 * Several workers may have found these Order Keys free and taken them in the same moment. Each write may overwrite the
	 * claim of another, so that all may have lost theirs: they take the keys again, until one has won.
	 * @param hasClaim whether the run still has the claim with which it took them
	 * @returns those wishes whose key another worker has won
	 */
	async win(wishes: readonly Wish[], hasClaim: boolean): Promise<Wish[]> {
		const { store } = this;
		let isClaimed = hasClaim;
		for (let tries = 0; !isClaimed; tries++) {
			if (tries === maxTries) throw new Error(manyConflicts);
			const claim = uniqueValue();
			await store.add([claim, ...wishes.flatMap(keyValuesOf).filter((value) => !isWon(value))]);
			await store.waitForOthers();
			isClaimed = (await store.add([claim])).known.has(claim);
			await store.discard([claim]);
		}
		// Whoever overwrites it also overwrites what is written with it, which is another's where it is there without it.
		const claim = uniqueValue();
		let known = await store.addNew([claim, ...wishes.map(wonOf)], [claim]);
		let open = wishes;
		for (let tries = 0; ; tries++) {
			if (!known.has(claim)) open = open.filter((wish) => !known.has(wonOf(wish)));
			const values = open.flatMap(keyValuesOf);
			if (values.every((value) => known.has(value))) break;
			if (tries === maxTries) throw new Error(manyConflicts);
			await store.waitForOthers();
			({ known } = await store.add([claim, ...values]));
		}
		await store.discard([claim]);
		return wishes.filter((wish) => !open.includes(wish));
	}
}

const isWon = (value: string) => value.endsWith(' won');
