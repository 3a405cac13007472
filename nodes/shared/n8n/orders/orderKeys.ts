import { hashOf } from './identity';
import type { Wish } from './order';
import { uniqueValue, valuesOf, type ProcessedItems } from './store';
import { manyConflicts, maxTries, Write } from './write';

/** The names of an Order Key: the one that is written, and the second one of release 1.0. */
const names = ['a', 'b'];
const factsOf = ({ key }: Wish) => names.map((name) => `key ${name} ${key}`);
const requestsOf = ({ key, request }: Wish) =>
	names.map((name) => `request ${name} ${hashOf([key, request])}`);
/** The values that mark an Order Key as used. */
export const takenValuesOf = (wish: Wish): string[] => [
	...valuesOf(factsOf(wish)[0]),
	requestsOf(wish)[0],
];
/** Written by the one worker that orders with the key. Unlike the others, it is never looked up. */
export const wonOf = (wish: Wish): string => `${factsOf(wish)[0]} won`;

export const keyValuesOf = (wish: Wish): string[] => [...takenValuesOf(wish), wonOf(wish)];

/** All values that it may have, with those of release 1.0. */
export const allKeyValuesOf = (wish: Wish): string[] => [
	...factsOf(wish).flatMap(valuesOf),
	...requestsOf(wish),
	wonOf(wish),
];

/** A value, also with the second name of its key. */
export const ofBothNames = (value: string): string[] =>
	names.map((name) => value.replace(/^(key|request) a/, `$1 ${name}`));

export const isOfKey = (value: string): boolean => /^(?:key|request) /.test(value);

/** The Order Keys that others have used, as far as a run has looked. */
export class OrderKeys {
	private readonly used = new Set<string>();
	/** The requests for which they were used. */
	private readonly requests = new Set<string>();

	constructor(private readonly store: ProcessedItems) {}

	/** Whether the Order Key of a wish was used for the same request, or for another one. */
	useOf(wish: Wish): 'free' | 'same' | 'other' {
		const { key = '' } = wish;
		if (!this.used.has(key)) return 'free';
		return requestsOf(wish).some((value) => this.requests.has(value)) ? 'same' : 'other';
	}

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

	/** @param known what was there before the values of the key were written @returns whether the key is another's */
	learnUse(wish: Wish, known: ReadonlySet<string>): boolean {
		const { key = '' } = wish;
		const [request] = requestsOf(wish);
		const isUsed = valuesOf(factsOf(wish)[0]).every((value) => known.has(value));
		if (isUsed) this.used.add(key);
		if (isUsed && known.has(request)) this.requests.add(request);
		return isUsed;
	}

	/**
	 * Removes values once more, and what look-ups left of the second name: a worker that read the store earlier may have
	 * written them back, and a key would stay used for ever. After an error they stay, since by the next call another worker
	 * may have won the key.
	 */
	async removeAgain(values: readonly string[]): Promise<void> {
		if (values.length === 0) return;
		await this.store.waitForOthers();
		await this.store.discard(values.flatMap(ofBothNames));
	}

	/**
	 * Wins the Order Keys that this run has taken, unless another worker does. All workers that take a key in the same moment
	 * may lose their claim: they take it again.
	 * @param hasClaim whether the run still has the claim with which it took them
	 * @returns the wishes whose key another worker has won
	 */
	async win(wishes: readonly Wish[], hasClaim: boolean): Promise<Wish[]> {
		const values = wishes.flatMap(takenValuesOf);
		let isClaimed = hasClaim;
		for (let tries = 0; !isClaimed; tries++) {
			if (tries === maxTries) throw new Error(manyConflicts);
			const isOwn = () => false;
			const write = new Write(this.store, [], { hasKeys: true, isClaiming: true, isOwn });
			await write.begin(values);
			isClaimed = await write.finish(values);
		}
		return await this.writeWon(wishes);
	}

	/**
	 * Writes that this run has won Order Keys, so that it stays. Another worker may overwrite it together with the claim
	 * beside it: where a key is won and the claim is missing, that worker has won it.
	 */
	private async writeWon(wishes: readonly Wish[]): Promise<Wish[]> {
		const { store } = this;
		const claim = uniqueValue();
		store.expect(wishes.length);
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
