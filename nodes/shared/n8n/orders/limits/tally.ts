import type { IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../../client/httpClient';
import type { Total } from '../entry';
import { confirmationOf, nodeIdOf, valuesOf, type ProcessedItems } from '../stores/processedItems';

/** A change of a tally, as values of n8n's store. */
export interface TallyStep {
	/** The state before: these must be there. */
	present: string[];
	/** None of these may be there. */
	absent: string[];
	/** The state afterwards. */
	added: string[];
	/** To be removed once the step is taken. */
	obsolete: string[];
}

/** A step that is being taken. */
interface TakenStep {
	step: TallyStep;
	/** Called before the store is written to. If {@link end} is never called, nobody knows whether it was. */
	begin(): void;
	end(isTaken: boolean): void;
}

/** A state has one of three slots in turn, so that of two states that a kill leaves the newer one is known. */
interface State {
	slot: number;
	/** The slot of the state before, if a kill has left it over. */
	older?: number;
	orders: number;
	/** In millionths of the currency. Infinite when an order had no price. */
	cost: number;
}

/** What is known of a tally in this process. */
interface Cached {
	/** Undefined when it must be read from the store; null when the store has none. */
	state?: State | null;
	/** Steps of which nobody knows whether they were taken. If the tally is in `state`, `owed` is given back. */
	unclear: Array<{ state: State | null; owed: Total }>;
}

/** By node and day. */
export const tallies = new Map<string, Cached>();

/** How often the tally is read while others look it up, and for how many milliseconds it waits before. */
const [maxTries, pause] = [5, 100];

const slots = [0, 1, 2];
const millionth = 1_000_000;
/** Of the orders, then of the cost. */
const digits = [6, 16];
const alphabet = [...'0123456789x'];
const positions = Array.from({ length: digits[0] + digits[1] }, (_, position) => position);

/**
 * How much a node has ordered in one day, across all executions and workers. n8n's store can only tell whether it has a
 * value, so the tally is kept as its decimal digits. Each step from one state to the next checks that the state before is
 * still there, so no two executions take the same step.
 */
export class Tally {
	/** @param day see `Day.name` */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly store: ProcessedItems,
		private readonly day: string,
	) {}

	/** What this day has counted so far. */
	async total(): Promise<Total> {
		const { cached } = this;
		if (cached.state !== undefined && !(await this.isCurrent(cached.state))) this.forget();
		const { orders, cost } = this.withoutOwed(await this.state());
		return { orders, cost: cost / millionth };
	}

	/** Forgets the state: another worker may have changed it. */
	forget(): void {
		this.cached.state = undefined;
	}

	/** Removes what kills have left over of steps and look-ups: slots without digits. */
	async clean(): Promise<void> {
		this.forget();
		const state = await this.state();
		const others = slots.filter((slot) => slot !== state?.slot && slot !== state?.older);
		const whole = await this.withDigits(others);
		const empty = others.filter((slot) => !whole.includes(slot));
		await this.store.remove(empty.flatMap((slot) => this.allFacts(slot).flatMap(valuesOf)));
	}

	/** The step that counts these orders. @param change negative to give back */
	async step(change: Total): Promise<TakenStep> {
		const { cached } = this;
		const state = await this.state();
		// With three states at once, nobody could tell which is the newest.
		if (state?.older !== undefined) {
			await this.store.removeNow(this.allFacts(state.older).flatMap(valuesOf));
			state.older = undefined;
		}
		const { orders, cost } = this.withoutOwed(state);
		const next: State = {
			slot: ((state?.slot ?? 2) + 1) % 3,
			orders: Math.max(0, orders + change.orders),
			cost: cost === Infinity ? Infinity : Math.max(0, cost + millionthsOf(change.cost)),
		};
		// An order that was not sent is given back if it was counted; one that made nothing, if it still is.
		const unclear = {
			state: change.orders < 0 ? state : next,
			owed: { orders: Math.abs(change.orders), cost: Math.abs(change.cost) },
		};
		const present = this.factsOf(state).flatMap(valuesOf);
		// Where there is no state before, nothing else would show that there is one by now.
		const probes = state ? [] : slots.slice(1).map((slot) => confirmationOf(this.slotFact(slot)));
		return {
			step: {
				present,
				absent: [...this.factsOf(next).map(confirmationOf), ...probes],
				added: this.factsOf(next),
				obsolete: [...present, ...probes],
			},
			begin: () => {
				cached.state = undefined;
				cached.unclear.push(unclear);
			},
			end: (isTaken) => {
				cached.unclear = isTaken ? [] : cached.unclear.filter((entry) => entry !== unclear);
				cached.state = isTaken ? next : undefined;
			},
		};
	}

	private withoutOwed(state: State | null): Total {
		const { orders, cost } = state ?? { orders: 0, cost: 0 };
		const owed = this.cached.unclear.filter((entry) => isEqual(entry.state, state));
		const ofOwed = owed.reduce((sum, entry) => sum + millionthsOf(entry.owed.cost), 0);
		return {
			orders: orders - owed.reduce((sum, entry) => sum + entry.owed.orders, 0),
			// Once unknown, the cost of a day stays so.
			cost: cost === Infinity ? Infinity : cost - ofOwed,
		};
	}

	private async state(): Promise<State | null> {
		const { cached } = this;
		if (cached.state === undefined) cached.state = await this.read();
		return cached.state;
	}

	/** Whether no other worker has taken a step since. */
	private async isCurrent(state: State | null): Promise<boolean> {
		const present = this.factsOf(state);
		const others = slots.filter((slot) => slot !== state?.slot).map((slot) => this.slotFact(slot));
		const known = await this.store.find([...present, ...others]);
		return known.size === present.length && present.every((value) => known.has(value));
	}

	private async read(): Promise<State | null> {
		for (let tries = 0; tries < maxTries; tries++) {
			const state = await this.tryToRead();
			if (state !== undefined) return state;
			// The values that other workers look up at this moment look like digits.
			await clock.sleep(pause * (1 + tries));
		}
		throw new Error('The count of the day in n8n’s database cannot be read');
	}

	/** @returns undefined when what is there makes no state */
	private async tryToRead(): Promise<State | null | undefined> {
		const known = await this.store.findFacts(slots.map((slot) => this.slotFact(slot)));
		let held = slots.filter((slot) => known.has(this.slotFact(slot)));
		// After several kills, a slot may look taken that has no digits.
		if (held.length === slots.length) held = await this.withDigits(held);
		if (held.length === 0) return null;
		// If n8n was killed during a step, two follow each other.
		const slot = held.find((one) => !held.includes((one + 1) % 3));
		const text = slot === undefined ? undefined : await this.digitsOf(slot);
		if (slot === undefined || text === undefined) return undefined;
		const [orders, cost] = [text.slice(0, digits[0]), text.slice(digits[0])];
		return {
			...{ slot, older: held.find((one) => one !== slot) },
			orders: Number(orders),
			cost: cost.startsWith('x') ? Infinity : Number(cost),
		};
	}

	private async withDigits(held: number[]): Promise<number[]> {
		const whole: number[] = [];
		for (const slot of held) if ((await this.digitsOf(slot)) !== undefined) whole.push(slot);
		return whole;
	}

	/** Undefined when a digit is missing, or is there twice. */
	private async digitsOf(slot: number): Promise<string | undefined> {
		const facts = await this.store.findFacts(this.allFacts(slot));
		const text = positions.map((position) =>
			alphabet.filter((digit) => facts.has(this.digitFact(slot, position, digit))),
		);
		return text.some(({ length }) => length !== 1) ? undefined : text.flat().join('');
	}

	private factsOf(state: State | null): string[] {
		if (!state) return [];
		const { slot, orders, cost } = state;
		const ofCost =
			cost === Infinity ? 'x'.repeat(digits[1]) : String(cost).padStart(digits[1], '0');
		const text = String(orders).padStart(digits[0], '0') + ofCost;
		const ofDigits = positions.map((position) => this.digitFact(slot, position, text[position]));
		return [this.slotFact(slot), ...ofDigits];
	}

	private allFacts(slot: number): string[] {
		const ofDigits = positions.flatMap((position) =>
			alphabet.map((digit) => this.digitFact(slot, position, digit)),
		);
		return [this.slotFact(slot), ...ofDigits];
	}

	private slotFact(slot: number): string {
		return `day ${this.day} ${slot}`;
	}

	private digitFact(slot: number, position: number, digit: string): string {
		return `${this.slotFact(slot)} ${position} ${digit}`;
	}

	private get cached(): Cached {
		const node = nodeIdOf(this.context);
		const name = `${node} ${this.day}`;
		let cached = tallies.get(name);
		if (!cached) {
			// Earlier days are dropped, so that they do not add up in a process that runs for months.
			for (const known of tallies.keys()) if (known.startsWith(`${node} `)) tallies.delete(known);
			cached = { unclear: [] };
			tallies.set(name, cached);
		}
		return cached;
	}
}

/** Rounded up, so that no limit is exceeded by what is cut off. */
const millionthsOf = (cost: number): number =>
	Math.sign(cost) * Math.ceil(Number((Math.abs(cost) * millionth).toFixed(3)));

const isEqual = (one: State | null, other: State | null): boolean =>
	one?.slot === other?.slot && one?.orders === other?.orders && one?.cost === other?.cost;
