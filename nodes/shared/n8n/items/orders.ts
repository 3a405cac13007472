import { isTool } from '../agent/tool';
import type { Connection } from '../../service/client/connection';
import { showHint } from '../display/hints';
import type { Decision } from '../orders/decide';
import { Ledger } from '../orders/ledger';
import {
	keyOf,
	keysReleased,
	keysUsed,
	keyToRelease,
	keyUsed,
	limitsUsed,
	usageText,
} from '../orders/messages';
import { notSentAgain, refusal, withLimit } from '../orders/refusals';
import { extraBodyOption } from '../parameters/extraBody';
import { skippedOutput } from '../parameters/skippedOutput';
import { failureForecast, type Forecast, type Item } from './item';
import { logRefused } from './orderLog';
import { useModel } from './otherModels';
import type { RunState } from './runState';

/** Lets a ledger decide about the paid items of a run, and does what it decides. After Stop, it decides nothing. */
export async function openOrders(run: RunState, connection: Connection): Promise<void> {
	const items = run.open;
	const ledger = (run.ledger = ledgerOf(run, connection));
	await ledger.open(items);
	for (const item of items) {
		const { decision } = item;
		if (decision && item.isPreview) item.forecast = forecastOf(decision, item, ledger);
		else if (decision) follow(decision, item, { run, ledger });
	}
	const real = items.filter(({ isPreview }) => !isPreview);
	logRefused(run, real);
	// One hint for all skipped items, since there may be thousands.
	const keysOf = (because: 'keyUsed' | 'keyReleased') => {
		const isOfThese = ({ decision }: Item) =>
			decision?.do === 'leaveOut' && decision.because === because;
		return [...new Set(real.filter(isOfThese).map(keyOf))];
	};
	const [released, used] = [keysOf('keyReleased'), keysOf('keyUsed')];
	if (released.length > 0) showHint(run.context, keysReleased(released));
	if (used.length > 0) showHint(run.context, keysUsed(used));
}

function ledgerOf(run: RunState, connection: Connection): Ledger {
	const { context, cost: billing, yielder, stop, work, log } = run;
	const { isOrder = false, options = [] } = work;
	const all = [...(work.fields ?? []), ...options, extraBodyOption];
	const fields = all.filter(({ isSetting }) => !isSetting);
	return new Ledger(context, { billing, isOrder, connection, fields, yielder, log, stop });
}

/** Says with the outputs how far limits are used. */
export function noteLimits(run: RunState, ledger: Ledger): void {
	const decided = run.items.filter(({ decision }) => decision);
	const bySubject = new Map(decided.map((item) => [item.options?.subject, item]));
	const usages = [...bySubject.values()].flatMap((item) => ledger.usageOf(item));
	if (usages.length > 0) run.notes.add(limitsUsed(usages));
}

function follow(
	decision: Decision,
	item: Item,
	{ run, ledger }: { run: RunState; ledger: Ledger },
): void {
	const { idempotencyKey } = item.wish;
	switch (decision.do) {
		case 'send': {
			item.parts = [...decision.parts];
			const countResend = async () => {
				const status = await ledger.countResend(item);
				return status && notSentAgain(refusal(status, item, ledger));
			};
			// Only where needed: it adds up over thousands of items.
			if (run.cost === 'job' || run.work.isOrder)
				item.idempotency = { idempotencyKey, countResend };
			return;
		}
		case 'sendUnderKey': {
			const { order } = decision;
			const failure =
				order.state === 'lost' ? order.failure : refusal('sent', item, ledger).failure;
			item.idempotency = { idempotencyKey, earlierFailure: { ...failure, idempotencyKey } };
			return;
		}
		case 'reuse': {
			const { hints, job = item.job, result, model = item.model } = decision.order;
			const made = item.others?.find((other) => other.model === model);
			if (made) useModel(item, made);
			item.model = model;
			for (const hint of hints) item.hint(hint);
			item.job = job;
			// A copy, because a workflow may change an output.
			item.result = structuredClone(result);
			return;
		}
		case 'leaveOut': {
			const isUsed = decision.because === 'keyUsed';
			// An agent needs an answer from its tool.
			const isDropped =
				isUsed && item.options?.ifOrderedBefore === 'drop' && !isTool(run.context.getNode());
			const key = keyOf(item);
			const reason = isUsed ? keyUsed(item, ledger) : keysReleased([key]);
			item.outcome = isDropped ? [] : [{ json: skippedOutput(key, reason) }];
			return;
		}
		case 'refuse': {
			const { because, orders, limit } = decision;
			const error = refusal(because, item, ledger, orders);
			// The error of the node then names this job, too.
			item.job = error.failure.job ?? item.job;
			const cause = limit ? withLimit(error, refusal(limit, item, ledger)) : error;
			item.outcome = [run.fail(item, cause)];
		}
	}
}

const reused =
	'An earlier try of this execution has ordered this already: its result would be reused';

const resent =
	'An earlier try may have been accepted. It would be sent again with the same key, by which the gateway knows it: that makes no second job';

/** Foretells the effect of {@link follow}, and how far the limits are used. */
function forecastOf(decision: Decision, item: Item, ledger: Ledger): Forecast {
	const limits = ledger.usageOf(item).map(usageText);
	return { ...resultOf(decision, item, ledger), ...(limits.length > 0 && { limits }) };
}

function resultOf(decision: Decision, item: Item, ledger: Ledger): Forecast {
	switch (decision.do) {
		case 'send':
			return { would: 'order', reason: 'Preview: nothing was ordered' };
		case 'sendUnderKey':
			return { would: 'order', reason: resent };
		case 'reuse':
			return { would: 'reuse', reason: reused, job_id: decision.order.job?.id };
		case 'leaveOut': {
			const isUsed = decision.because === 'keyUsed';
			const reason = isUsed ? keyUsed(item, ledger) : keyToRelease(keyOf(item));
			return { would: 'skip', reason };
		}
		case 'refuse':
			return failureForecast(refusal(decision.because, item, ledger, decision.orders));
	}
}
