import type { Connection } from '../../gateway/client/connection';
import { isTool } from '../agent/tool';
import type { Decision, LimitStatus } from '../orders/decide';
import { Ledger } from '../orders/ledger';
import { extraBodyOption } from '../parameters/extraBody';
import {
	resultReused,
	sentFailure,
	keysReleased,
	keysToRelease,
	resentWithKey,
	keysUsed,
	entriesDropped,
	notSentAgain,
	withLimit,
	refusal,
	type OrderDetails,
} from '../orders/messages';
import { skippedOutput } from '../parameters/skippedOutput';
import { failureOf, type CheckedItem, type Forecast } from './item';
import { OrderLog, type RefusedItem } from './orderLog';
import { failureForecast } from './preview';
import type { RunState } from './runState';

/** Connects the items of one run with the ledger of orders. */
export class ItemOrders {
	private readonly ledger: Ledger;

	constructor(
		private readonly run: RunState,
		connection: Connection,
	) {
		const { context, cost, yielder, stop, work, log } = run;
		this.ledger = new Ledger(context, {
			billing: cost,
			isOrder: work.isOrder ?? false,
			connection,
			fields: [...(work.fields ?? []), ...(work.options ?? []), extraBodyOption].filter(
				({ isSetting }) => !isSetting,
			),
			yielder,
			log,
			stop,
		});
	}

	/** Asks the ledger about each item. An item that is not sent gets a known result, an outcome or a failure. */
	async open(items: CheckedItem[]): Promise<void> {
		const decisions = await this.ledger.open(
			items.map((item) => ({
				index: item.index,
				request: this.identityOf(item),
				options: item.orderOptions,
				isPreview: item.isPreview ?? false,
				cost: item.cost,
				resendsLost: this.run.work.resendsLost?.(item.request) ?? false,
			})),
		);
		const keys = { keyUsed: [] as string[], keyReleased: [] as string[] };
		const refused: RefusedItem[] = [];
		for (const item of items) {
			const decision = decisions.get(item.index);
			if (decision === undefined) continue;
			if (item.isPreview) item.forecast = this.forecastOf(decision, item);
			else this.apply(decision, item);
			if (item.isPreview) continue;
			if (decision.do === 'leaveOut') {
				keys[decision.because].push(item.orderOptions?.key ?? '');
			} else if (decision.do === 'refuse') {
				refused.push({ item, reason: decision.because });
			}
		}
		new OrderLog(this.run).refused(refused);
		this.hint(keysReleased, keys.keyReleased);
		this.hint(keysUsed, keys.keyUsed);
		const { dropped } = this.ledger.facts;
		if (dropped > 0) this.run.context.addExecutionHints({ message: entriesDropped(dropped) });
	}

	/** Records the outcome of an item that was sent. */
	recordOutcome(item: CheckedItem): void {
		this.ledger.recordOutcome(item.index, { ...item, error: failureOf(item)?.error });
	}

	async close(): Promise<void> {
		const { failures, isFailing, isStopped } = this.run;
		// A loop that fails here never reaches the items of these jobs, and n8n may not have stored the jobs.
		if (isFailing) this.run.otherJobs = this.ledger.otherJobs;
		await this.ledger.close({ hasSucceeded: failures.length === 0 && !isStopped });
	}

	private apply(decision: Decision, item: CheckedItem): void {
		const { run } = this;
		switch (decision.do) {
			case 'send':
				item.parts.push(...decision.parts);
				// Set only where needed, because it adds up over thousands of items.
				if (run.cost === 'job' || run.work.isOrder) {
					const { idempotencyKey } = decision;
					item.idempotency = {
						idempotencyKey,
						countResend: async () => await this.countResend(item),
					};
				}
				return;
			case 'sendUnderKey': {
				const { entry, idempotencyKey } = decision;
				const failure = entry.state === 'lost' ? entry.failure : sentFailure(this.detailsOf(item));
				item.idempotency = { idempotencyKey, earlierFailure: { ...failure, idempotencyKey } };
				return;
			}
			case 'reuse': {
				const { hints, job = item.job, result } = decision.entry;
				for (const hint of hints) run.hint(item, hint);
				Object.assign(item, { job, result });
				return;
			}
			case 'leaveOut': {
				const { key = '', ifOrderedBefore } = item.orderOptions ?? {};
				const isUsed = decision.because === 'keyUsed';
				const reason = (isUsed ? keysUsed : keysReleased)([key]);
				// An agent needs an answer from its tool, so a tool drops nothing.
				const isDropped = isUsed && ifOrderedBefore === 'drop' && !isTool(run.context.getNode());
				item.outcome = isDropped ? [] : [{ json: skippedOutput(key, reason) }];
				return;
			}
			case 'refuse': {
				const { because, entries = [], limit } = decision;
				// So the error of the node names this job, too.
				const [job] = entries.flatMap((entry) =>
					entry.state === 'answered' ? (entry.job ?? []) : [],
				);
				item.job = job ?? item.job;
				const details = this.detailsOf(item);
				const error = refusal(because, details, entries);
				run.fail(item, limit ? withLimit(error, refusal(limit, details)) : error);
			}
		}
	}

	/** @returns why the order must not be sent again after a lost response; undefined when it is counted and may be */
	private async countResend(item: CheckedItem): Promise<string | undefined> {
		const status: LimitStatus = await this.ledger.countResend(item.index);
		return status && notSentAgain(refusal(status, this.detailsOf(item)));
	}

	/** What {@link apply} would do. */
	private forecastOf(decision: Decision, item: CheckedItem): Forecast {
		const { key = '' } = item.orderOptions ?? {};
		if ('idempotencyKey' in decision)
			item.idempotency = { idempotencyKey: decision.idempotencyKey };
		switch (decision.do) {
			case 'send':
				return { would: 'order', reason: 'Preview: nothing was ordered' };
			case 'sendUnderKey':
				return { would: 'order', reason: resentWithKey };
			case 'reuse':
				return { would: 'reuse', reason: resultReused, job_id: decision.entry.job?.id };
			case 'leaveOut': {
				const reasonFor = decision.because === 'keyUsed' ? keysUsed : keysToRelease;
				return { would: 'skip', reason: reasonFor([key]) };
			}
			case 'refuse':
				return failureForecast(refusal(decision.because, this.detailsOf(item), decision.entries));
		}
	}

	/** What makes two requests the same. */
	private identityOf({ request }: CheckedItem): unknown {
		return this.run.work.identity?.(request) ?? request;
	}

	private detailsOf(item: CheckedItem): OrderDetails {
		const { context } = this.run;
		const { error: storeError, day } = this.ledger.facts;
		const request = this.identityOf(item);
		const { orderOptions: options, cost } = item;
		return { context, request, options, cost, storeError, day };
	}

	/** One hint for all skipped items, since there may be thousands. */
	private hint(wording: (keys: string[]) => string, keys: string[]): void {
		if (keys.length === 0) return;
		this.run.context.addExecutionHints({ message: wording(keys), location: 'outputPane' });
	}
}
