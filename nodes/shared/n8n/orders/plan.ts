import type { EventLoopYielder } from '../client/eventLoopYielder';
import { decide, type Decision, type DecisionInput } from './decide';
import { addTotals, totalOf } from './order';
import { isContinued, isPreview, isReal, isUnsure, type Line } from './line';
import { limitStatus, type Counted } from './limits';

type Sending = Extract<Decision, { do: 'send' | 'sendUnderKey' }>;
export const isSent = (decision: Decision | undefined): decision is Sending =>
	decision?.do === 'send' || decision?.do === 'sendUnderKey';

/** What the decisions about the orders of a run are made from, apart from the orders themselves. */
export interface Facts {
	/** What is counted before any of them is sent, without those that may never have been sent. */
	counted: Counted;
	unmatched: DecisionInput['unmatched'];
	areTriesKnown: boolean;
	isRecordable: boolean;
	/** Whether another run is sending it. */
	isUnderWay(line: Line): boolean;
	/** How an Order Key was used before the run. */
	keyUse(line: Line): DecisionInput['keyUse'];
}

/**
 * Decides about all orders of a run, one after the other, since each may use a key or a limit. Orders that may have been
 * sent use the limits first, wherever they are in the list. Previews come last.
 * @returns the decisions, by the index of the item
 */
export async function plan(
	lines: readonly Line[],
	{ counted: { execution, day }, unmatched, keyUse, isUnderWay, ...known }: Facts,
	yielder: EventLoopYielder,
): Promise<Map<number, Decision>> {
	const decisions = new Map<number, Decision>();
	/** The requests of the keys that this run uses. */
	const requests = new Map<string, string>();
	const unsureFirst = [...lines.filter(isUnsure), ...lines.filter((line) => !isUnsure(line))];
	for (const line of [...unsureFirst.filter(isReal), ...unsureFirst.filter(isPreview)]) {
		await yielder.yieldIfDue();
		const { wish, options, resendsLost, found } = line;
		const { parameters, idempotencyKey, key, request, cost } = wish;
		const { ifOrderedBefore = 'skip', releasesKey = false } = options ?? {};
		const before = keyUse(line);
		const earlier = key === undefined ? undefined : requests.get(key);
		const ofRun = earlier === request ? 'same' : 'other';
		const decision = decide(found, {
			...{ resendsLost, parameters, idempotencyKey, ifOrderedBefore, releasesKey, ...known },
			keyUse: before === 'free' && earlier !== undefined ? ofRun : before,
			unmatched: key === undefined ? unmatched : [],
			isUnderWay: isUnderWay(line),
			limit: isContinued(line) ? undefined : limitStatus(options, cost, { execution, day }),
		});
		decisions.set(line.index, decision);
		if (key !== undefined && (isSent(decision) || found)) requests.set(key, request);
		const timesSent = decision.do === 'send' && !isContinued(line) ? 1 : 0;
		const earlierTimes = isUnsure(line) ? Math.max(1, found?.order.timesSent ?? 0) : 0;
		execution = addTotals(execution, totalOf([{ cost, timesSent: earlierTimes + timesSent }]));
		if (day) day = addTotals(day, totalOf([{ cost, timesSent }]));
	}
	return decisions;
}
