import type { Limits } from './model';
import type { Sent } from './checks';

/** The time zone of n8n, in which a day begins. */
const days = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' });
/** Such as `2026-11-24`. */
export const dayOf = (time: number): string => days.format(time);

/** An execution, or several of one family at the same time. */
interface Turn {
	key: string;
	/** Those of each execution. */
	limits: Limits[];
	/** When they began, and ended. */
	day: string;
	lastDay: string;
	/** Whether they began on several days: then nobody knows which orders are of which day. */
	isMixed: boolean;
	/** The greatest number of orders that they may place. */
	items: number;
	/** Whether orders may have been sent, or recorded, of which the service knows nothing. */
	isUnsure: boolean;
	/** `isCertain`: an execution of the turn has placed it, and not one that was killed before. */
	charged: Array<{ day: string; isCertain: boolean }>;
	/** Orders that may have been accepted, as far as n8n knows. */
	lost: number;
}

/**
 * Counts the orders of a node by the service's own records, and compares them with its limits. Executions at the same
 * time cannot be told apart by when they placed their orders, so a limit is compared with those before them.
 */
export class DayCount {
	private readonly turns: Turn[] = [];

	/**
	 * @param countsAll whether orders count for the limit that were placed without one, as videos do
	 * @param resends whether a lost order is sent again: that counts before it is sent, and may find no connection
	 * @param hasHeader whether it is then sent under its key, and counts only on the day of its first try
	 */
	constructor(
		private readonly countsAll: boolean,
		private readonly resends: boolean,
		private readonly hasHeader: boolean,
	) {}

	/** The beginnings of the turns that run now. */
	private start = 0;

	private get current(): Turn[] {
		return this.turns.slice(this.start);
	}

	/** Executions that run at the same time begin. */
	beginGroup(): void {
		this.start = this.turns.length;
	}

	/** An execution begins. @returns what is known of it; `isUnsure` may be set later */
	begin(key: string, limits: Limits, items: number): Turn {
		const day = dayOf(Date.now());
		let turn = this.current.find((one) => one.key === key);
		if (!turn) {
			const none = { limits: [], items: 0, charged: [], lost: 0, isUnsure: false };
			this.turns.push((turn = { key, day, lastDay: day, isMixed: false, ...none }));
		}
		turn.isMixed ||= turn.day !== day;
		turn.limits.push(limits);
		turn.items += items;
		return turn;
	}

	/** Orders of those that run now, or of a family at any time, may be recorded and not sent. */
	unsure(key?: string): void {
		for (const turn of key === undefined ? this.current : this.turns)
			if (key === undefined || turn.key === key) turn.isUnsure = true;
	}

	/** The executions have ended. @param sent the orders that arrived in the meantime */
	endGroup(sent: Sent[], isCertain: (sent: Sent) => boolean): void {
		for (const turn of this.current) {
			turn.lastDay = dayOf(Date.now());
			for (const one of sent.filter(({ key }) => key === turn.key)) {
				if (one.charge) turn.charged.push({ day: dayOf(one.charge.at), isCertain: isCertain(one) });
				else if (!one.fault?.isRefusal) turn.lost++;
			}
		}
	}

	/** @throws Error when those that have just ended ordered more than their limits of a day allow */
	checkDays(): void {
		const turns = this.current;
		const earlier = this.turns.slice(0, this.start);
		const amounts = new Set(turns.flatMap(({ limits }) => limits.map((one) => one.costPerDay)));
		for (const day of new Set(turns.flatMap(({ charged }) => charged.map((one) => one.day)))) {
			for (const some of [...turns.map((turn) => [turn]), turns]) {
				const ordering = some.filter((turn) => this.certainOf([turn], day) > 0);
				const limits = ordering.flatMap((turn) =>
					turn.limits.map(({ perDay = Infinity }) => perDay),
				);
				const counted = [...earlier, ...ordering].filter(this.isCounted);
				if (ordering.some(this.isCounted)) check(this.certainOf(counted, day), Math.max(...limits));
				// Each amount has a count of its own.
				for (const amount of amounts) {
					if (amount === undefined) continue;
					const isOfAmount = (turn: Turn) =>
						turn.limits.every(({ costPerDay }) => costPerDay === amount);
					if (!ordering.some(isOfAmount)) continue;
					check(this.certainOf([...earlier, ...ordering].filter(isOfAmount), day), amount);
				}
			}
		}
		function check(count: number, limit: number) {
			if (count > limit) throw new Error(`${count} were ordered on a day, with the limit ${limit}`);
		}
	}

	/** @throws Error when a family has ordered more than one execution may, with all its Retries */
	checkExecution(key: string): void {
		const turn = this.current.find((one) => one.key === key);
		if (!turn?.charged.some(({ isCertain }) => isCertain)) return;
		const limit = Math.max(...turn.limits.map(executionOf));
		const own = this.turns.filter((one) => one.key === key);
		const all = own.reduce((sum, { charged }) => sum + charged.length, 0);
		if (all > limit) throw new Error(`${key}: ${all} were ordered by one execution, of ${limit}`);
	}

	/** The most orders that the day may have counted, and the fewest. */
	countOf(day: string): { most: number; fewest: number } {
		const counted = this.turns.filter(
			(turn) =>
				(this.countsAll || turn.limits.some(isDaily)) && turn.day <= day && turn.lastDay >= day,
		);
		const mostOf = ({ charged, lost, isUnsure, items }: Turn) =>
			charged.length + (this.resends ? 2 : 1) * lost + (isUnsure ? 4 * items : 0);
		const most = counted.reduce((sum, turn) => sum + mostOf(turn), 0);
		return { most, fewest: this.certainOf(this.turns.filter(this.isCounted), day) };
	}

	/** The orders of these turns that certainly count on this day. */
	private certainOf(turns: Turn[], day: string): number {
		const placed = turns
			.filter((turn) => !turn.isMixed && turn.day === day)
			.flatMap(({ charged }) => charged)
			.filter((one) => one.isCertain && one.day === day).length;
		if (!this.hasHeader) return placed;
		const families = new Set(turns.map(({ key }) => key));
		const earlier = this.turns.filter((turn) => families.has(turn.key) && turn.day < day);
		return Math.max(0, placed - earlier.reduce((sum, { lost }) => sum + lost, 0));
	}

	/** Whether the orders of a turn certainly count for a limit of orders. */
	private readonly isCounted = ({ limits }: Turn): boolean =>
		this.countsAll || limits.every(isDaily);
}

const isDaily = ({ perDay, costPerDay }: Limits) =>
	perDay !== undefined || costPerDay !== undefined;

const executionOf = ({ perExecution = Infinity, costPerExecution = Infinity }: Limits) =>
	Math.min(perExecution, costPerExecution);
