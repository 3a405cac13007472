import { hashOf } from './identity';
import type { Wish } from './order';
import { valuesOf, type ProcessedItems } from './store';

/** The names of an Order Key: the one that is written, and the second one of release 1.0. */
const names = ['a', 'b'];
const factsOf = ({ key }: Wish) => names.map((name) => `key ${name} ${key}`);
const requestsOf = ({ key, request }: Wish) =>
	names.map((name) => `request ${name} ${hashOf([key, request])}`);
/** Unlike the others, this value is never looked up, so that where it is, somebody has taken the key. */
const takenBy = (wish: Wish) => `${factsOf(wish)[0]} taken`;

/** The values that a used Order Key has in n8n's store. */
export const keyValuesOf = (wish: Wish): string[] => [
	...valuesOf(factsOf(wish)[0]),
	requestsOf(wish)[0],
	takenBy(wish),
];

/** All values that it may have. */
export const allKeyValuesOf = (wish: Wish): string[] => [
	...factsOf(wish).flatMap(valuesOf),
	...requestsOf(wish),
	takenBy(wish),
];

export const isOfKey = (value: string): boolean => /^(?:key|request) /.test(value);

/** Which Order Keys others have used, as far as a run has looked. */
export class OrderKeys {
	private readonly used = new Set<string>();
	/** The requests for which they were used. */
	private readonly requests = new Set<string>();
	/** Those that another worker may have been writing. */
	private readonly doubtful = new Set<string>();

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
		// Another worker may be writing it: to be looked up again.
		const isDoubtful = known.has(takenBy(wish)) && !this.doubtful.has(key);
		if (isUsed) this.used.add(key);
		if (isDoubtful) this.doubtful.add(key);
		if (isUsed && known.has(request)) this.requests.add(request);
		return isUsed || isDoubtful;
	}
}
