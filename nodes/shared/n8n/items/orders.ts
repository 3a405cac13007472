import type { Connection } from '../../service/client/connection';
import { isTool } from '../agent/tool';
import { showHint } from '../display/hints';
import type { Decision, Reason } from '../orders/decide';
import { Ledger } from '../orders/ledger';
import { extraBodyOption } from '../parameters/extraBody';
import {
	sentFailure,
	keysReleased,
	keysUsed,
	keyUsed,
	notSentAgain,
	withLimit,
	refusal,
	type OrderDetails,
} from '../orders/messages';
import { skippedOutput } from '../parameters/skippedOutput';
import {
	failureForecast,
	type AnsweredItem,
	type CheckedItem,
	type EndedItem,
	type Forecast,
	type PlannedItem,
	type Step,
} from './item';
import { logRefused } from './orderLog';
import { keysToRelease, resentWithKey, resultReused } from './previewMessages';
import type { RunState } from './runState';

/** The ledger of the orders of a run. */
export function ledgerOf(run: RunState, connection: Connection): Ledger {
	const { context, cost: billing, yielder, stop, work, log } = run;
	const { isOrder = false, options = [] } = work;
	const all = [...(work.fields ?? []), ...options, extraBodyOption];
	const fields = all.filter(({ isSetting }) => !isSetting);
	return new Ledger(context, { billing, isOrder, connection, fields, yielder, log, stop });
}

/** Plans what happens to each item. @param ledger decides about paid requests; reads have none */
export async function planAll(
	run: RunState,
	checked: Step<CheckedItem>,
	ledger?: Ledger,
): Promise<Step<PlannedItem>> {
	// Taken from the list, so that the memory of a request is freed once its item has ended.
	const items = checked.items.splice(0);
	if (ledger) return await new ItemOrders(run, ledger).open({ ...checked, items });
	return { ...checked, items: items.map((item) => ({ ...item, parts: [] })) };
}

/** Asks the ledger about the items of a run, and does what it decides. */
class ItemOrders {
	private readonly keys = { keyReleased: [] as string[], keyUsed: [] as string[] };
	private readonly refused = new Map<Reason, CheckedItem[]>();

	constructor(
		private readonly run: RunState,
		private readonly ledger: Ledger,
	) {}

	/** @returns no items after Stop */
	async open(checked: Step<CheckedItem>): Promise<Step<PlannedItem>> {
		const decisions = await this.ledger.open(
			checked.items.map((item) => ({
				index: item.item.index,
				request: this.identityOf(item),
				options: item.orderOptions,
				isPreview: item.isPreview,
				cost: item.cost,
				resendsLost: this.run.work.resendsLost?.(item.request) ?? false,
			})),
		);
		const step: Step<PlannedItem> = { ...checked, items: [] };
		for (const item of checked.items) {
			const decision = decisions.get(item.item.index);
			if (!decision) continue;
			if (item.isPreview) {
				const { idempotencyKey } = 'idempotencyKey' in decision ? decision : {};
				const forecast = this.forecastOf(decision, item);
				step.previewed.push({ ...item, idempotencyKey, forecast });
				continue;
			}
			const next = this.follow(decision, item);
			if ('outcome' in next) step.ended.push(next);
			else step.items.push(next);
		}
		logRefused(this.run, this.refused);
		const { context } = this.run;
		// One hint for all skipped items, since there may be thousands.
		for (const [because, keys] of Object.entries(this.keys)) {
			const message = (because === 'keyUsed' ? keysUsed : keysReleased)(keys);
			if (keys.length > 0) showHint(context, message);
		}
		return step;
	}

	private follow(decision: Decision, checked: CheckedItem): PlannedItem | AnsweredItem | EndedItem {
		const { run } = this;
		const { item, includesInput } = checked;
		switch (decision.do) {
			case 'send': {
				const planned: PlannedItem = { ...checked, parts: [...decision.parts] };
				// Set only where needed, because it adds up over thousands of items.
				if (run.cost === 'job' || run.work.isOrder) {
					const countResend = async () => await this.countResend(planned);
					planned.idempotency = { idempotencyKey: decision.idempotencyKey, countResend };
				}
				return planned;
			}
			case 'sendUnderKey': {
				const { order, idempotencyKey } = decision;
				const failure =
					order.state === 'lost' ? order.failure : sentFailure(this.detailsOf(checked));
				const idempotency = { idempotencyKey, earlierFailure: { ...failure, idempotencyKey } };
				return { ...checked, parts: [], idempotency };
			}
			case 'reuse': {
				const { hints, job = item.job, result } = decision.order;
				for (const hint of hints) item.hint(hint);
				item.job = job;
				// A copy, so that nothing that a workflow does with an output changes what is kept.
				return { ...checked, parts: [], result: structuredClone(result) };
			}
			case 'leaveOut': {
				const { because } = decision;
				const { key = '', ifOrderedBefore } = checked.orderOptions ?? {};
				this.keys[because].push(key);
				// An agent needs an answer from its tool, so a tool drops nothing.
				const isDropped =
					because === 'keyUsed' && ifOrderedBefore === 'drop' && !isTool(run.context.getNode());
				const reason =
					because === 'keyUsed' ? keyUsed(key, this.detailsOf(checked)) : keysReleased([key]);
				const outcome = isDropped ? [] : [{ json: skippedOutput(key, reason) }];
				return { item, includesInput, outcome };
			}
			case 'refuse': {
				const { because, orders = [], limit } = decision;
				const refused = this.refused.get(because) ?? [];
				this.refused.set(because, refused);
				refused.push(checked);
				// So the error of the node names this job, too.
				const [job] = orders.flatMap((one) => (one.state === 'answered' ? (one.job ?? []) : []));
				item.job = job ?? item.job;
				const details = this.detailsOf(checked);
				const error = refusal(because, details, orders);
				const cause = limit ? withLimit(error, refusal(limit, details)) : error;
				return { item, outcome: [run.fail(item, cause)] };
			}
		}
	}

	/** @returns why the order must not be sent again after a lost response; undefined when it is counted and may be */
	private async countResend(planned: PlannedItem): Promise<string | undefined> {
		const status = await this.ledger.countResend(planned.item.index);
		return status && notSentAgain(refusal(status, this.detailsOf(planned)));
	}

	/** What {@link follow} would do. */
	private forecastOf(decision: Decision, item: CheckedItem): Forecast {
		const { key = '' } = item.orderOptions ?? {};
		switch (decision.do) {
			case 'send':
				return { would: 'order', reason: 'Preview: nothing was ordered' };
			case 'sendUnderKey':
				return { would: 'order', reason: resentWithKey };
			case 'reuse':
				return { would: 'reuse', reason: resultReused, job_id: decision.order.job?.id };
			case 'leaveOut': {
				const isUsed = decision.because === 'keyUsed';
				const reason = isUsed ? keyUsed(key, this.detailsOf(item)) : keysToRelease([key]);
				return { would: 'skip', reason };
			}
			case 'refuse':
				return failureForecast(refusal(decision.because, this.detailsOf(item), decision.orders));
		}
	}

	/** What makes two requests the same. */
	private identityOf({ request }: CheckedItem): unknown {
		return this.run.work.identity?.(request) ?? request;
	}

	private detailsOf(item: CheckedItem): OrderDetails {
		const { context } = this.run;
		const { failure: storeFailure, day, usedBefore } = this.ledger.facts;
		const request = this.identityOf(item);
		const { orderOptions: options, cost } = item;
		const keyUse = this.ledger.useOfKey(options?.key ?? '');
		return { context, request, options, cost, storeFailure, day, usedBefore, keyUse };
	}
}
