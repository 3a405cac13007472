/** The texts of outputs and hints about Order Keys and limits. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { excerpt } from '../../service/json';
import { sumOf } from '../../service/prices';
import { joinFirst } from '../errors/badInput';
import { failureOfJob } from '../execution/orderedJobs';
import type { KeyUse } from './keptJournals';
import type { Usage } from './limits';
import type { Line } from './line';

/** The uses of Order Keys that this process knows. */
export interface KeyUses {
	context: IExecuteFunctions;
	useOfKey(key: string): KeyUse | undefined;
}

export const keyOf = ({ options }: Line): string => options?.key ?? '';

/** For an item that is left out, because its Order Key was used. */
export function keyUsed(line: Line, uses: KeyUses): string {
	const use = useOf(line, uses);
	const failure = failureUnder(line, uses);
	const base = `${keysUsed([keyOf(line)])}${use === undefined ? '' : `: ${use}`}`;
	return failure === '' ? base : `${base}.${failure} ${orderAgain}`;
}

export const keysUsed = (keys: string[]): string =>
	keys.length === 1
		? `Order Key ${quoted(keys[0])} was used before, so nothing was ordered`
		: `${keys.length} Order Keys were used before, so nothing was ordered for them: ${list(keys)}`;

export const keysReleased = (keys: string[]): string =>
	`Released, and nothing ordered: Order Key ${list(keys)}. Turn off Release Order Key to order again`;

export const keyToRelease = (key: string): string =>
	`Order Key ${quoted(key)} would be released, and nothing ordered`;

/** The first keys, in quotation marks. */
const list = (keys: string[]) => joinFirst(keys.map(quoted));

/** Names the execution that used an Order Key, but delivers nothing of it: what one execution knows never serves another. */
export function useOf(line: Line, uses: KeyUses): string | undefined {
	const use = uses.useOfKey(keyOf(line));
	return use && `execution ${use.execution} used it on ${timeIn(uses.context, use.time)}`;
}

/** Says that the job under an Order Key has failed, where this process knows it. */
export function failureUnder(line: Line, uses: KeyUses): string {
	const failure = failureOfJob(uses.useOfKey(keyOf(line))?.job ?? '');
	return failure === undefined ? '' : ` Its job has failed: ${excerpt(failure)}.`;
}

export const orderAgain =
	'To order again, use another key, or run this node once with Release Order Key.';

/** For an item whose first response was lost. */
export const requestSentTwice =
	'The request was sent twice, because no response of the service arrived the first time. You may be charged for both.';

export const limitsUsed = (usages: readonly Usage[]): string =>
	`Limits: ${joinFirst(usages.map(usageText))}.`;

/** Says how far a limit is used. */
export function usageText({ limit: { of, period, max }, subject, used }: Usage): string {
	const whose = subject === undefined ? '' : `${quoted(subject)}: `;
	const what = of === 'orders' ? 'orders' : 'estimated cost';
	const when = { execution: 'in this execution', day: 'today', month: 'this month' }[period];
	const left = sumOf([max, -used]);
	return `${whose}${used} of ${max} ${what} used ${when}${left > 0 ? `, ${left} left` : ''}`;
}

/** Such as “3 orders”. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

export const quoted = (text: string) => `“${excerpt(text, 100)}”`;

/** The time zone of the workflow; that of n8n if it is none, such as `DEFAULT`, which n8n stores in imported workflows. */
export function timeZoneOf(context: IExecuteFunctions): string {
	const timeZone = context.getTimezone();
	try {
		new Intl.DateTimeFormat('en', { timeZone });
		return timeZone;
	} catch {
		return new Intl.DateTimeFormat('en').resolvedOptions().timeZone;
	}
}

/** Such as “28 November 2026 at 10:15”. */
export function timeIn(context: IExecuteFunctions, time: number): string {
	const timeZone = timeZoneOf(context);
	const format = { dateStyle: 'long', timeStyle: 'short', timeZone } as const;
	return new Intl.DateTimeFormat('en-GB', format).format(time);
}
