import type { IExecuteFunctions } from 'n8n-workflow';
import type { Connection } from '../../service/client/connection';
import type { JobSummary } from '../../service/errors/jobSummary';
import type { Cost } from '../../service/protocol/endpoints';
import { isTool } from '../agent/tool';
import type { EventLoopYielder } from '../client/eventLoopYielder';
import type { NodeLog } from '../log/nodeLog';
import type { Field } from '../parameters/field';
import type { Period } from '../parameters/orderOptions';
import { Counts } from './counts';
import { hashOf, WishNames } from './identity';
import { Journal } from './journal';
import { keptJournals, type KeyUse } from './keptJournals';
import { hasLastingLimit, limitStatus, type LimitStatus, type Usage } from './limits';
import { isFresh, isPreview, isReal, isSent, stateAfter, wishesOf, type Line } from './line';
import { lockAll } from './locks';
import { Marks, type StoreFailure } from './marks';
import type { Total } from './order';
import { Plan } from './plan';
import { nodeIdOf, ProcessedItems } from './store';

interface Settings {
	billing: Cost;
	/** Whether videos or images are ordered. */
	isOrder: boolean;
	connection: Connection;
	/** Those that say what is ordered. */
	fields: readonly Field[];
	yielder: EventLoopYielder;
	log: NodeLog;
	/** Aborts when the user presses Stop. */
	stop?: AbortSignal;
}

/** How often all is decided again because another worker has ordered in the meantime. */
const maxTurns = 20;

/**
 * The paid requests of one run of the node. It asks the journal and n8n's database what is known of them, decides,
 * records what is about to be sent, and then what came of it.
 */
export class Ledger {
	private readonly journal: Journal;
	private readonly node: string;
	private readonly lines: Line[] = [];
	/** n8n's store: all that a run asks of it shares one patience. */
	private readonly store: ProcessedItems;
	private readonly marks: Marks;
	private readonly plan: Plan;
	private keyUses?: Map<string, KeyUse>;
	/** Unlocks the Order Keys of the run. */
	private unlockKeys?: () => void;

	constructor(
		readonly context: IExecuteFunctions,
		private readonly settings: Settings,
	) {
		const { isOrder, log } = settings;
		const journal = new Journal(context, isOrder);
		this.journal = journal;
		this.node = nodeIdOf(context);
		this.store = new ProcessedItems(context);
		const { isRetry, isTraced, lines } = this;
		const isOfTool = isTool(context.getNode());
		this.marks = new Marks(this.store, { log, origin: journal.origin, isTraced });
		this.plan = new Plan(journal, this.marks, lines, { isRetry, isTraced, isOfTool });
	}

	/**
	 * Decides what to do with each item, and records what is about to be sent. First it waits for executions that are
	 * ordering with one of the same Order Keys: their outcome decides whether the key was used. After Stop, nothing is
	 * decided.
	 */
	async open(items: readonly Line[]): Promise<void> {
		const { yielder, stop } = this.settings;
		const { journal, lines } = this;
		const names = new WishNames(this.context, journal, this.settings);
		// Previews come last, so that they take no known order from the items that are really ordered.
		for (const line of [...items.filter(isReal), ...items.filter(isPreview)]) {
			await yielder.yieldIfDue();
			line.wish = names.wishOf(line);
			lines.push(line);
		}
		if (!journal.isReadable) {
			for (const line of lines) line.decision = { do: 'refuse', because: 'unreadable' };
			return;
		}
		const { context, store, isTraced } = this;
		this.marks.counts = new Counts(lines, { context, store, isTraced });
		const keys = lines.flatMap(({ wish: { key } }) => (key ? `${this.node} ${key}` : []));
		this.unlockKeys = await lockAll(keys, stop);
		if (this.unlockKeys) await this.inTurn(async () => await this.decideAndRecord(), stop);
	}

	/** Records the outcome of an item at once, since a Retry may begin before the other items have ended. */
	recordOutcome(line: Line): void {
		const learned = stateAfter(line);
		if (!isSent(line) || !learned) return;
		line.learned = learned;
		this.journal.keepSent(line, learned);
	}

	/**
	 * Counts an order once more, because it is sent again after its response was lost.
	 * @returns why it must not be sent; undefined when it is counted
	 */
	async countResend(line: Line): Promise<LimitStatus | 'notRecorded'> {
		return await this.inTurn(async () => {
			const { marks } = this;
			for (let turns = 1; ; turns++) {
				const { revision } = marks;
				const { subject } = line.wish;
				const counted = this.plan.counted({ subject, sent: this.sending });
				const status = limitStatus(line.options, line.wish.cost, counted);
				if (status !== undefined) return status;
				line.sends++;
				await marks.take(this.sending);
				if (marks.error === undefined && marks.revision === revision) break;
				line.sends--;
				if (marks.error === undefined && turns < maxTurns) continue;
				if (hasLastingLimit(line.options)) return 'dayUnknown';
				if (!this.plan.isRecordable) return 'notRecorded';
				line.sends++;
				break;
			}
			this.journal.keepSent(line, { state: 'sent' });
			return undefined;
		});
	}

	/**
	 * Records that the next request of an order is another one. The gateway knows only the first by the key of the order, so
	 * after a kill no Retry may send it again with that key.
	 * @returns whether it is recorded; otherwise the other request must not be sent
	 */
	async changeRequest(line: Line): Promise<boolean> {
		if (line.wish.idempotencyKey === undefined) return true;
		const isRecorded = await this.inTurn(async () => {
			const { marks } = this;
			const { revision } = marks;
			line.wish = { ...line.wish, idempotencyKey: undefined };
			await marks.take(this.sending);
			// Only now: there is always one of both marks.
			await marks.keepOnly(this.sending);
			this.journal.keepSent(line, { state: 'sent' });
			return marks.revision === revision && this.plan.isRecordable;
		});
		return isRecorded ?? false;
	}

	/**
	 * Records the outcome of the run.
	 * @param hasSucceeded whether n8n stores its outputs
	 */
	async close({ hasSucceeded }: { hasSucceeded: boolean }): Promise<void> {
		const { journal, settings } = this;
		try {
			// After a success, only videos and images have records to update.
			if (!hasSucceeded || settings.isOrder) await this.inTurn(async () => await this.settle());
			journal.finishRun(this.lines.filter(isReal), hasSucceeded);
		} finally {
			this.marks.settle();
			this.unlockKeys?.();
		}
	}

	get storeFailure(): StoreFailure | undefined {
		return this.marks.failure;
	}

	usedBefore(line: Line, period: Period): Total | undefined {
		return this.plan.usedBefore(line, period);
	}

	usageOf(line: Line): Usage[] {
		return this.plan.usageOf(line, this.sending);
	}

	/** Who used an Order Key before, as far as this process knows. */
	useOfKey(key: string): KeyUse | undefined {
		this.keyUses ??= keptJournals().keyUses(this.node);
		return this.keyUses.get(hashOf(key));
	}

	/** Jobs of this execution and its Retries that belong neither to this run nor to another run of the execution. */
	get otherJobs(): readonly JobSummary[] {
		return this.journal.jobsExcept(this.lines);
	}

	/** Lets Retries of the execution and, where days or months count, runs of the node take turns. @returns undefined after Stop */
	private async inTurn<T>(call: () => Promise<T>, stop?: AbortSignal): Promise<T | undefined> {
		const ofCounts = this.marks.counts?.isEmpty === false ? [`counts of ${this.node}`] : [];
		const unlock = await lockAll([this.journal.origin, ...ofCounts], stop);
		try {
			return unlock && (await call());
		} finally {
			unlock?.();
		}
	}

	private async decideAndRecord(): Promise<void> {
		const { lines, marks, plan } = this;
		const releasing = lines.filter(({ options }) => options?.releasesKey);
		const ordering = lines.filter(({ options }) => !options?.releasesKey);
		await marks.release(wishesOf(releasing.filter(isReal)));
		await marks.count({ isPreview: lines.every(isPreview) });
		plan.pair(ordering);
		// A first try notices while it writes whether another worker has run the execution.
		if (this.isRetry) await plan.findSent(ordering);
		for (let turns = 1; ; turns++) {
			await marks.findKeys(wishesOf(ordering.filter(isFresh)));
			const { revision, error } = marks;
			await plan.decide(this.settings.yielder);
			if (lines.some(isRefusedByCount) && (await marks.recount())) continue;
			// What could not be recorded was decided without it. If giving it back fails, that is tried again, too.
			if (error === undefined) await marks.take(this.sending);
			else await marks.keepOnly(this.sending);
			if (marks.revision === revision && marks.error === error) break;
			if (turns === maxTurns) marks.error ??= new Error(manyConflicts);
			if (marks.isFamilyNews) await plan.findSent(ordering);
		}
		await marks.keepOnly(this.sending);
		this.journal.begin(lines);
	}

	/** Whether a Retry must find the orders in n8n's database: those of videos. */
	private get isTraced(): boolean {
		return this.settings.billing === 'job';
	}

	private get isRetry(): boolean {
		return this.context.getMode() === 'retry';
	}

	/** The lines of which this run has sent a request, or is about to. */
	private get sending(): Line[] {
		return this.lines.filter(({ sends }) => sends > 0);
	}

	/** Records what came of everything that was sent. */
	private async settle(): Promise<void> {
		const { journal, marks } = this;
		const sent = this.lines.filter((line) => isReal(line) && isSent(line));
		for (const line of sent) if (!line.learned) line.sends = 0;
		journal.settle(sent);
		if (marks.error === undefined || sent.length > 0) await marks.keepOnly(this.sending);
	}
}

const isRefusedByCount = ({ decision }: Line): boolean =>
	decision?.do === 'refuse' && /Of(Day|Month)$|^countFull$/.test(decision.because);

const manyConflicts = 'Other workers wrote at the same moment, again and again';
