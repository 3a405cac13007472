import type { Charge, RecordedRequest } from '../../gateway';
import { isRefusal, smallStore, type Limits } from './familyScenarios';

/** The time zone of n8n, in which a day begins. */
const days = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' });
/** Such as `2026-11-24`. */
export const today = () => days.format(Date.now());

/** An execution, or several of one family at the same time. */
interface Turn {
	key: string;
	/** Those of each execution. */
	limits: Limits[];
	/** When they began, and ended. */
	day: string;
	lastDay: string;
	/** The greatest number of orders that each may place. */
	items: number;
	/** Whether orders may have been sent, or recorded, of which the service knows nothing. */
	isUnsure: boolean;
	/** Whether they began on several days. */
	isMixed?: boolean;
	/** `isCertain`: an execution of the turn has placed it, and not one that was killed before. */
	charges: Array<{ day: string; isCertain: boolean }>;
	/** Orders that may have been accepted, as far as n8n knows. */
	lost: number;
}

/**
 * Counts the orders of a node by the service's own records, and compares them with its limits. Executions at the same
 * time cannot be told apart by when they placed their orders, so a limit is compared with those before them.
 */
export class DayCount {
	private readonly groups: Turn[][] = [];
	private turns: Turn[] = [];
	/** How many entries at most were added to n8n's store before each group. */
	private readonly added: number[] = [];
	private entries = 0;

	/** Executions that run at the same time begin. */
	beginGroup(): void {
		this.turns = [];
		this.groups.push(this.turns);
		this.added.push(this.entries);
	}

	/** An execution begins. @returns what is known of it; `isUnsure` may be set later */
	begin(key: string, limits: Limits, items: number): Turn {
		// Each try records at most this for an order; a tally has 46 values, and there are two of them during a step.
		this.entries += 2 * 7 * items + 95;
		let turn = this.turns.find((one) => one.key === key);
		if (!turn) {
			const none = { charges: [], lost: 0, items: 0, isUnsure: false };
			turn = { key, limits: [], day: today(), lastDay: today(), ...none };
			this.turns.push(turn);
		}
		// Then nobody knows which orders are of which day.
		if (turn.day !== today()) turn.isMixed = true;
		turn.limits.push(limits);
		turn.items += items;
		return turn;
	}

	/** Orders of the current group, or of all groups for a key, may be recorded and not sent. */
	unsure(key?: string): void {
		const turns = key === undefined ? this.turns : this.groups.flat();
		for (const turn of turns) if (key === undefined || turn.key === key) turn.isUnsure = true;
	}

	/** The current turn of a family. */
	turnOf(key: string): Turn | undefined {
		return this.turns.find((turn) => turn.key === key);
	}

	/** How many orders of a family were charged. */
	ordersOf(key: string): number {
		const own = this.groups.flat().filter((turn) => turn.key === key);
		return own.reduce((sum, { charges }) => sum + charges.length, 0);
	}

	addEntries(count: number): void {
		this.entries += count;
	}

	/** The number of the current group. */
	get now(): number {
		return this.groups.length - 1;
	}

	/** Whether n8n's store still has all that was recorded since a group began. */
	fits(since: number, isStoreSmall?: boolean, size = smallStore): boolean {
		return !isStoreSmall || this.entries - this.added[Math.max(0, since)] < size;
	}

	/** The group in which a family was first executed. */
	firstOf(key: string): number {
		return this.groups.findIndex((group) => group.some((turn) => turn.key === key));
	}

	/**
	 * The executions of the group have ended.
	 * @param requests those that ask for an order, and arrived in the meantime
	 * @throws Error when more was ordered than a limit allowed
	 */
	endGroup(
		requests: RecordedRequest[],
		charges: Charge[],
		{ isStoreSmall, isCertain }: { isStoreSmall?: boolean; isCertain(charge: Charge): boolean },
	): void {
		for (const turn of this.turns) {
			turn.lastDay = today();
			for (const request of requests) {
				if (!request.headers.authorization?.endsWith(turn.key)) continue;
				const charge = charges.find(({ requestId }) => requestId === request.requestId);
				if (charge)
					turn.charges.push({ day: days.format(charge.at), isCertain: isCertain(charge) });
				else if (!request.fault || !isRefusal({ fault: request.fault })) turn.lost++;
			}
		}
		for (const turn of this.turns) {
			for (const day of new Set(turn.charges.map((one) => one.day)))
				this.checkDay(turn, day, isStoreSmall);
		}
		for (const day of new Set(this.turns.map((turn) => turn.day)))
			this.checkGroup(day, isStoreSmall);
	}

	/** The most orders that the day may have counted, and the fewest. */
	countOf(day: string): { most: number; fewest: number } {
		let [most, fewest] = [0, 0];
		for (const turn of this.groups.flat()) {
			fewest += certainOf(turn, day);
			if (!turn.limits.some(isDaily) || turn.day > day || turn.lastDay < day) continue;
			const unsure = turn.isUnsure ? 4 * turn.items : 0;
			most += turn.charges.length + turn.lost + unsure;
		}
		return { most, fewest };
	}

	private certain(day: string, groups: Turn[][]): number {
		return groups.flat().reduce((sum, turn) => sum + certainOf(turn, day), 0);
	}

	/** An execution places an order only while fewer than its limit were made. */
	private checkDay(turn: Turn, day: string, isStoreSmall?: boolean): void {
		const own = certainOf(turn, day);
		if (own === 0 || !this.isTallyKept(isStoreSmall)) return;
		const before = this.certain(day, this.groups.slice(0, -1));
		const limit = Math.max(...turn.limits.map(dailyOf));
		if (before + own > limit)
			throw new Error(`${turn.key}: ${own} after ${before} on a day, with the limit ${limit}`);
	}

	private checkGroup(day: string, isStoreSmall?: boolean): void {
		const ordering = this.turns.filter((turn) => certainOf(turn, day) > 0);
		if (ordering.length === 0 || !this.isTallyKept(isStoreSmall)) return;
		const before = this.certain(day, this.groups.slice(0, -1));
		const all = this.certain(day, this.groups);
		const limit = Math.max(...ordering.flatMap(({ limits }) => limits.map(dailyOf)));
		if (all > Math.max(before, limit))
			throw new Error(`${all - before} after ${before} on a day, with limits up to ${limit}`);
	}

	/** Whether nothing has pushed the count of the day out of n8n's store. */
	isTallyKept(isStoreSmall?: boolean): boolean {
		if (!isStoreSmall) return true;
		// The newest that may have been counted; with each order, all values of the tally become the newest.
		const last = this.groups
			.slice(0, -1)
			.findLastIndex((group) => group.some((turn) => certainOf(turn, turn.day) > 0));
		return last < 0 || this.fits(last, isStoreSmall);
	}
}

const isDaily = ({ perDay, costPerDay }: Limits) =>
	perDay !== undefined || costPerDay !== undefined;

/** The orders of the turn that this day has certainly counted. */
function certainOf(turn: Turn, day: string): number {
	if (turn.isMixed || turn.day !== day || !turn.limits.every(isDaily)) return 0;
	return turn.charges.filter((one) => one.isCertain && one.day === day).length;
}

/** The limit of a day that these allow at most. */
const dailyOf = ({ perDay = Infinity, costPerDay = Infinity, form }: Limits): number =>
	Math.min(perDay, costPerDay) + (form === 'chance' ? 1 : 0);

/** The limit of an execution that these allow at most. */
export const executionOf = ({
	perExecution = Infinity,
	costPerExecution = Infinity,
	form,
}: Limits): number => Math.min(perExecution, costPerExecution) + (form === 'chance' ? 1 : 0);
