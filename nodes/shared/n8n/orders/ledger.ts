import type { IExecuteFunctions } from 'n8n-workflow';
import type { Connection } from '../../service/client/connection';
import type { JobSummary } from '../../service/errors/jobSummary';
import type { Cost } from '../../service/protocol/endpoints';
import type { EventLoopYielder } from '../client/eventLoopYielder';
import type { NodeLog } from '../log/nodeLog';
import type { Field } from '../parameters/field';
import type { Limit } from '../parameters/orderOptions';
import { hashOf, WishNames } from './identity';
import { Journal } from './journal';
import { keptJournals, type KeyUse } from './keptJournals';
import { isLasting, type LimitStatus, type Usage } from './limits';
import { stateAfter, wishesOf, type Line } from './line';
import { lockAll } from './locks';
import { Marks, type StoreFailure } from './marks';
import { Plan } from './plan';
import { nodeIdOf } from './storeCalls';
import { manyConflicts, maxTries } from './write';

interface Settings {
	billing: Cost;
	/** Whether videos or images are ordered. */
	isOrder: boolean;
	connection: Connection;
	/** Those that say what is ordered. */
	fields: readonly Field[];
	yielder: EventLoopYielder;
	log: NodeLog;
	stop?: AbortSignal;
}

/**
 * The paid requests of one run of the node. It looks them up in the journal and n8n's database, decides, records what is
 * about to be sent, and then what came of it.
 */
export class Ledger {
	private readonly journal: Journal;
	private readonly node: string;
	private readonly lines: Line[] = [];
	private readonly marks: Marks;
	private readonly plan: Plan;
	private keyUses?: Map<string, KeyUse>;
	private unlockKeys?: () => void;

	constructor(
		readonly context: IExecuteFunctions,
		private readonly settings: Settings,
	) {
		const { isOrder, billing, log } = settings;
		this.node = nodeIdOf(context);
		this.journal = new Journal(context, isOrder);
		const { origin } = this.journal;
		// A Retry must find the orders of videos in n8n's database.
		this.marks = new Marks(context, { log, origin, isTraced: billing === 'job' });
		this.plan = new Plan(context, this.journal, this.marks, this.lines);
	}

	/**
	 * Decides about each item, and records what is about to be sent. First it waits for executions that are ordering with one
	 * of the same Order Keys: their outcome decides whether the key was used. After Stop, nothing is decided.
	 */
	async open(items: readonly Line[]): Promise<void> {
		const { yielder, stop } = this.settings;
		const { journal, lines } = this;
		const names = new WishNames(this.context, journal, this.settings);
		// Previews come last, so that they take no known order from the others.
		const inOrder = [...items].sort(
			(one, other) => Number(one.isPreview) - Number(other.isPreview),
		);
		for (const line of inOrder) {
			await yielder.yieldIfDue();
			line.wish = names.wishOf(line);
			lines.push(line);
		}
		if (!journal.isReadable) {
			for (const line of lines) line.decision = { do: 'refuse', because: 'unreadable' };
			return;
		}
		this.marks.counts.begin(lines);
		const keys = lines.flatMap(({ wish: { key } }) => (key ? `${this.node} ${key}` : []));
		this.unlockKeys = await lockAll(keys, stop);
		if (this.unlockKeys) await this.inTurn(async () => await this.decideAndRecord(), stop);
	}

	/** Keeps the outcome of an item at once, since a Retry may begin before the others have ended. */
	recordOutcome(line: Line): void {
		const learned = stateAfter(line);
		if (!line.isSent || !learned) return;
		line.learned = learned;
		this.journal.keepSent(line, learned);
	}

	/** Counts an order that is sent again after its response was lost. @returns why it must not be sent */
	async countResend(line: Line): Promise<LimitStatus | 'notRecorded'> {
		return await this.inTurn(async () => {
			const { marks, plan } = this;
			const { options, wish } = line;
			let isCounted = false;
			for (let turns = 0; !isCounted && turns < maxTries; turns++) {
				const status = plan.tally(wish.subject).status(options, wish.cost);
				if (status !== undefined) return status;
				line.sends++;
				const isNews = await marks.take(this.sending);
				isCounted = !isNews && !marks.failure;
				if (!isCounted) line.sends--;
				if (marks.failure) break;
			}
			if (!isCounted) {
				if (options?.limits.some(isLasting)) return 'dayUnknown';
				if (plan.unguarded === 'notRecorded') return 'notRecorded';
				line.sends++;
			}
			this.journal.keepSent(line, { state: 'sent' });
			return undefined;
		});
	}

	/**
	 * Records that the next request of an order is another one. The gateway knows only the first by the key of the order, so
	 * no Retry may send it again with that key.
	 * @returns whether the other request may be sent
	 */
	async changeRequest(line: Line): Promise<boolean> {
		if (line.wish.idempotencyKey === undefined) return true;
		const isRecorded = await this.inTurn(async () => {
			const { marks, plan } = this;
			line.wish = { ...line.wish, idempotencyKey: undefined };
			const isNews = await marks.take(this.sending);
			// Only now, so that there is always one of both marks.
			await marks.keepOnly(this.sending);
			this.journal.keepSent(line, { state: 'sent' });
			return !isNews && plan.unguarded !== 'notRecorded';
		});
		return isRecorded ?? false;
	}

	/** @param hasSucceeded whether n8n stores the outputs of the run */
	async close({ hasSucceeded }: { hasSucceeded: boolean }): Promise<void> {
		const { journal, settings } = this;
		try {
			// After a success, only orders have records to update.
			if (!hasSucceeded || settings.isOrder) await this.inTurn(async () => await this.settle());
			journal.finishRun(this.real, hasSucceeded);
		} finally {
			this.marks.settle();
			this.unlockKeys?.();
		}
	}

	get storeFailure(): StoreFailure | undefined {
		return this.marks.failure;
	}

	/** How far others had used a limit of a day or month before this run; undefined where that is unknown. */
	usedBefore({ wish }: Line, { of, period }: Limit): number | undefined {
		const { failure, counts } = this.marks;
		if (period === 'execution' || failure) return undefined;
		return counts.othersIn(period, wish.subject)?.[of];
	}

	/** How far the limits of a line are used that count other executions, or separately. */
	usageOf({ options, wish: { subject } }: Line): Usage[] {
		const tally = this.plan.tally(subject);
		return (options?.limits ?? []).flatMap((limit) => {
			const used = tally.usedOf(limit);
			const isShown = isLasting(limit) || subject !== undefined;
			return isShown && used !== undefined ? { limit, subject: options?.subject, used } : [];
		});
	}

	/** The earlier use of an Order Key, as far as this process knows it. */
	useOfKey(key: string): KeyUse | undefined {
		this.keyUses ??= keptJournals().keyUses(this.node);
		return this.keyUses.get(hashOf(key));
	}

	/** Jobs of this execution and its Retries that belong neither to this run nor to another one. */
	get otherJobs(): readonly JobSummary[] {
		return this.journal.jobsExcept(this.lines);
	}

	/** Lets Retries and, where days or months count, executions take turns. @returns undefined after Stop */
	private async inTurn<T>(call: () => Promise<T>, stop?: AbortSignal): Promise<T | undefined> {
		const ofCounts = this.marks.counts.isEmpty ? [] : [`counts of ${this.node}`];
		const unlock = await lockAll([this.journal.origin, ...ofCounts], stop);
		try {
			return unlock && (await call());
		} finally {
			unlock?.();
		}
	}

	private async decideAndRecord(): Promise<void> {
		const { lines, marks, plan } = this;
		const ordering = lines.filter(({ options }) => !options?.releasesKey);
		const releasing = this.real.filter(({ options }) => options?.releasesKey);
		await marks.release(wishesOf(releasing));
		await marks.count({ isPreview: this.real.length === 0 });
		plan.pair(ordering);
		// A first try notices while it writes whether another worker has run the execution.
		if (this.context.getMode() === 'retry') await plan.findSent(ordering);
		for (let turns = 1; ; turns++) {
			await marks.findKeys(wishesOf(ordering.filter(({ found }) => !found)));
			const { failure } = marks;
			await plan.decide(this.settings.yielder);
			if (lines.some(isRefusedByCount) && (await marks.recount())) continue;
			// After a failure, orders that cannot be recorded are refused, and their marks given back, again if that fails.
			let isNews = false;
			if (failure) await marks.keepOnly(this.sending);
			else isNews = await marks.take(this.sending);
			if (!isNews && marks.failure === failure) break;
			if (turns === maxTries) marks.failure ??= { isMissing: false, problem: manyConflicts };
			if (marks.isFamilyNews) await plan.findSent(ordering);
		}
		await marks.keepOnly(this.sending);
		this.journal.begin(lines);
	}

	private get real(): Line[] {
		return this.lines.filter(({ isPreview }) => !isPreview);
	}

	/** The lines that this run has sent, or is about to. */
	private get sending(): Line[] {
		return this.lines.filter(({ sends }) => sends > 0);
	}

	private async settle(): Promise<void> {
		const { journal, marks } = this;
		const sent = this.lines.filter(({ isSent }) => isSent);
		for (const line of sent) if (!line.learned) line.sends = 0;
		journal.settle(sent);
		if (!marks.failure || sent.length > 0) await marks.keepOnly(this.sending);
	}
}

const isRefusedByCount = ({ decision }: Line): boolean =>
	decision?.do === 'refuse' && /Of(Day|Month)$|^countFull$/.test(decision.because);
