import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Connection } from '../../gateway/client/connection';
import type { JobSummary } from '../../gateway/errors/jobSummary';
import { sumOf } from '../../gateway/prices';
import type { Cost } from '../../gateway/protocol/endpoints';
import { isTool } from '../agent/tool';
import type { Turns } from '../client/turns';
import type { OrderOptions } from '../parameters/orderOptions';
import { DatabaseShelf } from './database';
import type { Day } from './day';
import { DayRoom, isLimitedByDay, type DayClaimant } from './dayRoom';
import { decide, learn, type Decision, type Outcome, type Room, type Wish } from './decide';
import { lockAll } from './locks';
import { isGuess, match, type Match } from './match';
import {
	added,
	hashOf,
	OrderNumbers,
	totalOf,
	type Entry,
	type Knowledge,
	type Known,
	type Order,
	type Total,
} from './order';
import { ExecutionShelf, mostOf, ProcessShelf, type Shelf } from './shelves';
import { nodeIdOf, Store } from './store';

/** One item whose request is paid for. */
export interface Wanted {
	/** Index of the item. */
	index: number;
	/** What makes two requests the same. */
	request: unknown;
	/** What the user wants of its order; undefined where nothing is ordered. */
	options?: OrderOptions;
	/** Whether the user wants it sent again when its response was lost. */
	resendsLost: boolean;
	/** Whether it is only decided what would be done with it: nothing is sent for it, and nothing kept. */
	isPreview: boolean;
	/** What its order is estimated to cost; undefined where no price tells. */
	cost?: number;
}

/** One request of the run. It may be large, so only its hash is kept. */
interface Line extends Omit<Wanted, 'request'>, DayClaimant {
	order: Order;
	/** What is known of it from other tries. */
	found?: Match;
	/** Once it was sent. */
	learned?: Knowledge;
}

interface Settings {
	cost: Cost;
	/** Whether something dear is ordered, a video or an image. */
	isOrder: boolean;
	connection: Connection;
	turns: Turns;
	/** Aborts when the user presses Stop. */
	stop?: AbortSignal;
}

/**
 * The paid requests of one run of the node, over all tries, Retries and executions: asks the shelves what is known of
 * them, and records what becomes of them. What follows from that is decided in `decide.ts`.
 */
export class Journal {
	private readonly execution: ExecutionShelf;
	/** Of orders only. */
	private readonly process?: ProcessShelf;
	private readonly database: DatabaseShelf;
	private readonly store: Store;
	private readonly dayRoom: DayRoom;
	private readonly isOfTool: boolean;
	private readonly lines: Line[] = [];
	/** Those of them that are sent, by the index of the item. */
	private readonly sent = new Map<number, Line>();
	/** Lets go of the Order Keys of the run. */
	private unlockKeys?: () => void;
	/** Why n8n's database could not be asked; undefined when it could. */
	storeError?: unknown;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly settings: Settings,
	) {
		const { isOrder, cost } = settings;
		this.execution = new ExecutionShelf(context, isOrder);
		const { origin, run } = this.execution;
		if (isOrder) this.process = new ProcessShelf(origin, run);
		this.store = new Store(context);
		this.dayRoom = new DayRoom(context, this.store);
		this.database = new DatabaseShelf(this.store, origin, cost === 'job');
		this.isOfTool = isTool(context.getNode());
	}

	/**
	 * Says what is to be done with each item, by its index, and records what is about to be sent. It first waits until no
	 * other execution is ordering with one of the Order Keys, whose outcome decides whether that was used.
	 * @returns nothing after Stop
	 */
	async open(items: readonly Wanted[]): Promise<ReadonlyMap<number, Decision>> {
		const numbers = new OrderNumbers(this.context, this.execution, this.settings);
		// A preview takes nothing from what is ordered beside it.
		const inTurn = [...items.filter(isReal), ...items.filter(isPreview)];
		for (const { request, ...wanted } of inTurn) {
			await this.settings.turns.next();
			// Only videos are looked for in n8n's database by their items.
			const item = this.settings.cost === 'job' ? this.itemOf(wanted.index) : undefined;
			const order = numbers.orderOf(request, { ...wanted, item });
			this.lines.push({ ...wanted, order, claims: [] });
		}
		if (!this.execution.isReadable) {
			return new Map(this.lines.map(({ index }) => [index, unreadable]));
		}
		this.unlockKeys = await lockAll(this.keyLocks, this.settings.stop);
		if (!this.unlockKeys) return new Map();
		const releasing = this.lines.filter(({ options }) => options?.releasesKey);
		await this.askStore(
			async () => await this.database.release(ordersOf(releasing.filter(isReal))),
		);
		const ordering = this.lines.filter(({ options }) => !options?.releasesKey);
		const known = this.recall(ordersOf(ordering));
		this.pair(ordering, known);
		const unknown = ordering.filter(({ found }) => !found);
		const others = [...known, ...(this.process?.orders ?? [])];
		// At once: another Retry of this execution may begin at the same moment.
		this.process?.keep(
			unknown
				.filter(isReal)
				.map((line) => ({ ...this.entryOf(line, { state: 'sent' }), isUnderWay: true })),
		);
		await this.askStore(async () => await this.database.record(ordersOf(unknown)));
		this.pair(unknown, this.database.knownOf(ordersOf(unknown), others));
		if (ordering.some(isLimitedByDay)) await this.claimRoomOfDay();
		const decisions = await this.decideAll();
		await this.releaseRoomOfDay(this.lines.filter(({ index }) => !this.sent.has(index)));
		const unsent = unknown.filter(({ index }) => !this.sent.has(index));
		this.process?.remove(ordersOf(unsent.filter(isReal)));
		// If n8n is killed from here on, only what is sent counts as sent.
		await this.askStore(async () => {
			await this.database.keepOnly(ordersOf([...this.sent.values()]));
		});
		return decisions;
	}

	/** Takes down what became of an item that was sent, at once: a Retry may begin before the others have ended. */
	learn(index: number, outcome: Outcome): void {
		const line = this.sent.get(index);
		const learned = learn(outcome);
		if (!line || !learned) return;
		line.learned = learned;
		this.process?.keep([this.entryOf(line, learned)]);
	}

	/**
	 * Records what became of the run.
	 * @param isOver whether it has succeeded, so that n8n stores its outputs
	 */
	async close({ isOver }: { isOver: boolean }): Promise<void> {
		try {
			await this.closeLines(isOver);
		} finally {
			this.unlockKeys?.();
		}
	}

	/** Whose orders are counted; undefined where there is no limit. */
	get day(): Day | undefined {
		return this.dayRoom.day;
	}

	/** The jobs of this execution and its Retries that are neither of this run nor of another one. */
	get otherJobs(): readonly JobSummary[] {
		const own = new Set(this.lines.flatMap(({ found }) => found?.known.id ?? []));
		for (const { order } of this.lines) own.add(order.id);
		const isOther = (order: Order) => !own.has(order.id) && !this.execution.isTaken(order);
		return (this.process?.readAll(isOther) ?? []).flatMap((entry) =>
			entry.state === 'answered' ? (entry.job ?? []) : [],
		);
	}

	private get keyLocks(): string[] {
		const keys = this.lines.flatMap(({ order: { key } }) => key ?? []);
		return keys.map((key) => `${nodeIdOf(this.context)} ${key}`);
	}

	private async closeLines(isOver: boolean): Promise<void> {
		// Of the others, nothing was recorded.
		if (!isOver || this.process) await this.keepLearned();
		const orders = this.lines
			.filter(isReal)
			.flatMap(({ order, found }) => (found ? [order, found.known] : order));
		if (isOver) this.execution.settle(orders);
		// An agent that calls its tool again after a failure asks for the same.
		if (this.isOfTool && !(isOver && this.process)) {
			for (const order of orders) this.execution.giveBack(order);
		}
	}

	private async keepLearned(): Promise<void> {
		const made: Entry[] = [];
		const obsolete: Array<Pick<Order, 'id'>> = [];
		for (const line of this.sent.values()) {
			await this.settings.turns.next();
			const { order, found, learned } = line;
			// An earlier try may have been accepted, whatever became of this one.
			if (learned) made.push(this.entryOf(line, learned));
			else if (found) made.push(this.earlierEntry(line, found));
			else this.execution.giveBack(order);
			const id = learned ? found?.known.id : order.id;
			if (id !== undefined) obsolete.push({ id });
		}
		for (const shelf of this.shelves) {
			shelf.remove(obsolete);
			shelf.keep(made);
		}
		await this.askStore(async () => await this.database.keepOnly(made));
		await this.releaseRoomOfDay([...this.sent.values()].filter(({ learned }) => !learned));
	}

	private get shelves(): Shelf[] {
		return this.process ? [this.execution, this.process] : [this.execution];
	}

	/** The most that is known of each order of this run. */
	private recall(orders: Order[]): Entry[] {
		// Of equal knowledge, that of the execution tells more.
		const known = mostOf(this.shelves.reverse().flatMap((shelf) => shelf.read(orders))).filter(
			(entry) => !this.execution.isTaken(entry),
		);
		// What the process knows counts for the limit, and n8n may store it this time.
		if (this.process)
			this.execution.keep(known.map((entry) => ({ ...entry, isUnderWay: undefined })));
		return known;
	}

	/** Finds what is known of each request. */
	private pair(lines: Line[], known: Known[]): void {
		if (known.length === 0) return;
		for (const line of lines) line.order = this.withItem(line);
		const pairs = match(ordersOf(lines), known);
		for (const line of lines) {
			line.found = pairs.get(line.order);
			if (!line.found || !this.process || isPreview(line)) continue;
			const entry = this.earlierEntry(line, line.found);
			// What another run has sent is this one's from now on.
			const { run, place, item, itemCount } = line.order;
			const own = { run, place, item, itemCount };
			this.execution.keep([isGuess(line.found) ? entry : { ...entry, ...own }]);
		}
	}

	private async askStore(call: () => Promise<void>): Promise<void> {
		try {
			await call();
		} catch (error) {
			this.storeError = error;
			this.context.logger.warn(`The store of processed items failed: ${String(error)}`);
		}
	}

	/** Claims room in the limits of the day for each line that would be sent. */
	private async claimRoomOfDay(): Promise<void> {
		const decisions = await this.decideAll({ isTrial: true });
		const wanting = this.lines.filter(
			(line) => isLimitedByDay(line) && decisions.get(line.index)?.do === 'send',
		);
		await this.askStore(async () => await this.dayRoom.claim(wanting));
	}

	/** Of orders that surely made nothing. */
	private async releaseRoomOfDay(lines: readonly Line[]): Promise<void> {
		if (lines.some(({ claims }) => claims.length > 0))
			await this.askStore(async () => await this.dayRoom.release(lines));
	}

	private roomOfDay({ roomOfDay, options }: Line): Room {
		if (roomOfDay !== undefined) return roomOfDay;
		if (this.storeError !== undefined) return 'unknown';
		// An order with the same key was to take the room, and got none.
		return options?.maxPerDay === undefined ? 'costly' : 'full';
	}

	/** @param isTrial whether it is only looked what would be decided if the day had room for all */
	private async decideAll({ isTrial = false } = {}): Promise<Map<number, Decision>> {
		const usedKeys = new Map<string, string>();
		const decisions = new Map<number, Decision>();
		// What may have been sent counts before what is new, wherever it is in the list.
		const inTurn = [
			...this.lines.filter(isUncounted),
			...this.lines.filter((line) => !isUncounted(line)),
		];
		for (const lines of [inTurn.filter(isReal), inTurn.filter(isPreview)]) {
			let placed: Total | undefined;
			for (const line of lines) {
				await this.settings.turns.next();
				// Read late, and written at once: other calls of a tool share it.
				placed ??= this.placedBefore(lines);
				const { order, found } = line;
				const decision = decide(found, this.wishOf(line, { usedKeys, placed, isTrial }));
				const isSent = decision.do === 'send' || decision.do === 'sendUnderKey';
				if (!isTrial) this.settle(line, isSent && isReal(line));
				const { key, request } = order;
				if (key !== undefined && (isSent || found)) usedKeys.set(key, request);
				if (found ? isUncounted(line) : isSent) placed = added(placed, totalOf([order]));
				decisions.set(line.index, decision);
			}
		}
		return decisions;
	}

	private settle(line: Line, isSent: boolean): void {
		const { order, found } = line;
		if (isSent) {
			this.sent.set(line.index, line);
			if (this.process) this.execution.keep([this.entryOf(line, { state: 'sent' })]);
		} else {
			this.execution.giveBack(order);
		}
		if (found && !isGuess(found) && isReal(line)) this.execution.take(found.known);
	}

	/** What the limits count before it is looked which of these lines may be sent. */
	private placedBefore(lines: readonly Line[]): Total {
		const { execution, process } = this;
		const uncounted = new Set(
			lines.filter(isUncounted).map(({ order, found }) => found?.known.id ?? order.id),
		);
		const others = (process?.orders ?? []).filter(
			(order) => !execution.has(order) && !uncounted.has(order.id),
		);
		return added(
			execution.placedBut(({ id }) => uncounted.has(id)),
			totalOf(others),
		);
	}

	private wishOf(
		line: Line,
		{
			usedKeys,
			placed,
			isTrial,
		}: { usedKeys: ReadonlyMap<string, string>; placed: Total; isTrial: boolean },
	): Wish {
		const { order, options, resendsLost, found } = line;
		const { written, idempotencyKey } = order;
		const { ifOrderedBefore = 'skip', releasesKey = false } = options ?? {};
		// Only n8n's database knows what an execution has sent in which n8n was killed.
		const isRetry = this.storeError !== undefined && this.context.getMode() === 'retry';
		const isUnknown = isRetry && found === undefined && this.settings.cost === 'job';
		const isCounted = found !== undefined && !isUncounted(line);
		const room = isCounted ? 'free' : roomFor(line, placed);
		return {
			...{ resendsLost, written, idempotencyKey, ifOrderedBefore, releasesKey },
			keyUse: this.keyUseOf(order, usedKeys),
			room: isUnknown ? 'unknown' : room,
			roomOfDay: isTrial || !isLimitedByDay(line) ? 'free' : this.roomOfDay(line),
		};
	}

	private keyUseOf({ key, request }: Order, used: ReadonlyMap<string, string>): Wish['keyUse'] {
		if (key === undefined) return 'free';
		if (this.storeError !== undefined) return 'unknown';
		const use = this.database.keyUse(key, request);
		if (use !== 'free' || !used.has(key)) return use;
		return used.get(key) === request ? 'same' : 'other';
	}

	private entryOf(line: Line, learned: Knowledge): Entry {
		return { ...this.withItem(line), ...learned };
	}

	/** What another try has left. Of the idempotency key, only the one that it was sent with counts. */
	private earlierEntry(line: Line, { known }: Match): Entry {
		const { idempotencyKey } = known;
		return { ...this.withItem(line), ...known, idempotencyKey, isUnderWay: undefined };
	}

	/** Of all requests, only those that are kept or compared need it. */
	private withItem({ order, index }: Pick<Line, 'index' | 'order'>): Order {
		return order.item === undefined ? { ...order, item: this.itemOf(index) } : order;
	}

	/** Undefined of a tool, whose items tell nothing. */
	private itemOf(index: number): string | undefined {
		return this.isOfTool ? undefined : itemHashOf(this.context.getInputData()[index]);
	}
}

const unreadable: Decision = { do: 'refuse', because: 'unreadable' };

const isPreview = (wanted: Pick<Wanted, 'isPreview'>) => wanted.isPreview;

/** Whether the limits of the execution have room for an order. */
function roomFor({ options, order: { cost = Infinity } }: Line, placed: Total): Room {
	const { max = Infinity, maxCost = Infinity } = options ?? {};
	if (placed.orders >= max) return 'full';
	return maxCost < Infinity && sumOf([placed.cost, cost]) > maxCost ? 'costly' : 'free';
}
const isReal = (wanted: Pick<Wanted, 'isPreview'>) => !wanted.isPreview;

const ordersOf = (lines: readonly Line[]) => lines.map(({ order }) => order);

/** It may never have been sent: n8n may have been killed between the record and the request. */
const isUncounted = ({ found }: Line) => found?.known.state === 'sent';

/** Undefined where equal items may well be different ones, or cannot be compared. */
function itemHashOf({ json, binary }: INodeExecutionData): string | undefined {
	if (Object.keys(json).length === 0 && !binary) return undefined;
	try {
		return hashOf([json, binary]);
	} catch {
		// n8n lets an item contain itself.
		return undefined;
	}
}
