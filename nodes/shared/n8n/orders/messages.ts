/** All messages about orders: why one is not sent, and what happened to one. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayError, stopped, type Failure } from '../../service/errors/gatewayError';
import { excerpt, textAt } from '../../service/json';
import { idInSentence } from '../agent/dataNotice';
import { isTool } from '../agent/tool';
import { joinFirst } from '../errors/badInput';
import { orderLimits, type OrderOptions } from '../parameters/orderOptions';
import type { Day } from './day';
import type { Reason } from './decide';
import type { Order, Total } from './order';
import type { KeyUse } from './keptJournals';
import { guardedOrders, type StoreFailure } from './marks';

/** What the messages about one order need to know. */
export interface OrderDetails {
	context: IExecuteFunctions;
	/** What makes two requests the same. */
	request: unknown;
	options?: OrderOptions;
	/** Who used its Order Key before, if known. */
	keyUse?: KeyUse;
	/** Estimated cost of the order. */
	cost?: number;
	storeFailure?: StoreFailure;
	/** The day whose orders are counted, and what it had counted before this run. */
	day?: Day;
	usedBefore?: Total;
}

/** Why an order is not sent. @param orders what is known of it, or of others that may be the same */
export function refusal(
	because: Reason,
	details: OrderDetails,
	orders: readonly Order[] = [],
): GatewayError {
	const { key = '' } = details.options ?? {};
	const [known] = orders;
	switch (because) {
		case 'lost':
			return known?.state === 'lost'
				? alreadySentError(known.failure, details)
				: sentError(details);
		case 'sent':
			return sentError(details);
		case 'reworded':
			return rewordedError(details, orders);
		case 'keyUsed':
			return notSent({ message: keysUsed([key]), advice: keyUsedAdvice(details) });
		case 'keyOfOther':
			return notSent({
				message: `Order Key ${quoted(key)} was used before, and for another order than this`,
				advice:
					'A key belongs to one order: the same model, prompt, files and options. Links that change, dates and random seeds make another order, too. Use another key, or run this node once with Release Order Key.',
			});
		case 'limit':
			return limitError(details, 'max');
		case 'costLimit':
			return limitError(details, 'maxCost');
		case 'limitOfDay':
			return limitError(details, 'maxPerDay');
		case 'costLimitOfDay':
			return limitError(details, 'maxCostPerDay');
		case 'dayUnknown':
			return lookupError('orders of the day', details);
		case 'keyUnknown':
			return lookupError('Order Key', details);
		case 'tooMany':
			return tooManyError(key !== '');
		case 'triesUnknown':
			return lookupError('orders of earlier tries', details);
		case 'notRecorded':
			return recordError(details);
		case 'unreadable':
			return unreadableError(details);
	}
}

/** Another try of this execution has sent the order, and nothing else is known of it. */
function sentError(details: OrderDetails): GatewayError {
	const { request } = details;
	const model = textAt(request, 'model');
	const prompt = textAt(request, 'input.prompt') ?? textAt(request, 'prompt');
	const what = [model, prompt && `“${excerpt(prompt)}”`].filter(Boolean).join(', ');
	return notSent({
		message: `This order was sent before${startOf(details)}${what && ` (${what})`}`,
		advice: `n8n or the execution stopped before the ID of the job was stored, or an earlier Retry took the order over. ${howToFind}`,
		orderAdvice: alreadySent(details),
		billed: 'unknown',
	});
}

/** The failure of an order that is only known to have been sent. @see sentError */
export const sentFailure = (details: OrderDetails): Failure => sentError(details).failure;

/** Another try of this execution has sent an order that may be this one in other words. */
function rewordedError(details: OrderDetails, orders: readonly Order[]): GatewayError {
	const jobs = orders.flatMap((order) => (order.state === 'answered' ? (order.job ?? []) : []));
	const [job] = jobs;
	const ids = joinFirst(jobs.map(({ id }) => idInSentence(id, "in n8n's log")));
	const found =
		jobs.length === 0
			? howToFind.replace('It may', 'The earlier one may')
			: jobs.length === 1
				? `The job of the earlier one is ${ids}: collect it by Wait for Video with that Job ID.`
				: `The jobs of the earlier ones are ${ids}: collect them by Wait for Video with those Job IDs.`;
	return notSent({
		message: `Another order was sent before in place of this one${startOf(details)}`,
		advice: `Its prompt may have been reworded since, so nothing was sent in addition. ${found}`,
		orderAdvice: alreadySent(details),
		billed: 'unknown',
		...(job && { job }),
	});
}

const howToFind =
	'It may have been accepted and may be running. Look for the ID of its job in n8n\'s log ("order created"), and collect it by Wait for Video with that Job ID. Without an ID in the log, nothing tells whether it runs: the billing log lists only what was charged.';

/** Says that no retry sends the order again, and how to order it anyway. */
const alreadySent = ({ options }: OrderDetails) =>
	`An earlier try has already sent this order. A retry does not send it again, because you could be charged twice. If a second charge is acceptable, ${options?.key === undefined ? '' : 'run this node once with Release Order Key, then '}execute the workflow again.`;

/** An earlier try has sent the order and failed, and its outcome is unknown. */
function alreadySentError(
	{ isStopped, message, ...failure }: Failure,
	details: OrderDetails,
): GatewayError {
	return new GatewayError({
		...failure,
		message: isStopped ? 'An earlier try was stopped before its response arrived' : message,
		orderAdvice: alreadySent(details),
		retry_can_help: false,
	});
}

/** The record of earlier tries cannot be read, so they may have sent the order. */
const unreadableError = (details: OrderDetails) =>
	notSent({
		message:
			'Nothing was sent, because the record of what earlier tries of this execution ordered cannot be read',
		advice:
			'A newer version of n8n-nodes-model-gateway has stored it, or it is damaged. Install the newest version, and press Retry. The IDs of created jobs are in n8n\'s log ("order created"): Wait for Video collects them.',
		orderAdvice: alreadySent(details),
		billed: 'unknown',
	});

function limitError(
	{ context, options, cost, day, usedBefore }: OrderDetails,
	name: keyof typeof orderLimits,
): GatewayError {
	const ofDay = name.endsWith('PerDay');
	const ofCost = name.startsWith('maxCost');
	const max = options?.[name] ?? 0;
	const reached = ofCost
		? `its estimated cost of ${cost ?? 'unknown size'} is more than what is left of the limit of ${max}`
		: `it would exceed the limit of ${counted(max, 'order')}`;
	const used = usedBefore?.[ofCost ? 'cost' : 'orders'];
	const per = !ofDay
		? 'execution'
		: `day${used === undefined ? '' : ` (${used} used before this run)`}`;
	const timeZone = context.getTimezone();
	const format = new Intl.DateTimeFormat('en-GB', {
		...{ dateStyle: 'long', timeStyle: 'short', timeZone },
	});
	const opensAgain =
		ofDay && day ? `. It opens again on ${format.format(day.end)} (${timeZone}).` : '';
	const stopsAll = context.getInputData().length > 1 && !context.continueOnFail();
	const noneOrdered = stopsAll ? ' Until then, none of these items is ordered.' : '';
	return notSent({
		message: `Not ordered: ${reached} per ${per}${opensAgain}`,
		// The model of an agent cannot change the options.
		advice: isTool(context.getNode())
			? 'Do not try again. Continue with what was ordered, or tell the user that the limit is reached.'
			: `To allow more, raise ${orderLimits[name].property.displayName}.${noneOrdered}`,
		retry_can_help: ofDay,
	});
}

/** What n8n's store drops, a Retry or an Order Key would order again. */
function tooManyError(hasKeys: boolean): GatewayError {
	const max = guardedOrders(hasKeys);
	return notSent({
		message: `Nothing was ordered, because the list has more than ${max} orders${hasKeys ? ' with an Order Key' : ''}`,
		advice: `n8n's database can keep ${max} of them at most, and what it drops could be ordered twice. Order the list in parts, for example with Loop Over Items.`,
	});
}

/** Without n8n's database, the key or limit that the user set cannot be guaranteed. */
function lookupError(guard: string, details: OrderDetails): GatewayError {
	if (!details.storeFailure?.isMissing) return recordError(details);
	return notSent({
		message: `The ${guard} could not be looked up in n8n's database, so nothing was ordered`,
		advice: `Save the workflow if it is new, then run again. ${problemOf(details)}`,
		retry_can_help: true,
	});
}

/** n8n's database did not work for some seconds. After a kill, nothing would show that the order was placed. */
const recordError = (details: OrderDetails): GatewayError =>
	notSent({
		message: "n8n's database could not record the order; nothing was ordered",
		advice: `Run again. If this keeps happening, ask the administrator of n8n to check its database. ${releaseIfUsed(details)}${problemOf(details)}`,
		retry_can_help: true,
	});

/** The record may be there, although n8n's database did not say so. */
const releaseIfUsed = ({ options }: OrderDetails) =>
	options?.key === undefined
		? ''
		: 'If the Order Key counts as used then, run this node once with Release Order Key. ';

const problemOf = ({ storeFailure }: OrderDetails) => `n8n said: ${storeFailure?.problem ?? ''}`;

const notSent = (
	facts: Partial<Omit<Failure, 'reach'>> & Pick<Failure, 'message' | 'advice'>,
): GatewayError => new GatewayError(facts);

/** Says that an order whose response was lost is not sent again. */
export const notSentAgain = ({ message }: GatewayError): string =>
	`It was not sent again. ${message.replace(/^Not ordered: it/, 'It').replace(/\.?$/, '.')}`;

/** The error of an order with a lost response that the user wants sent again, which a limit prevents. */
export const withLimit = (error: GatewayError, limit: GatewayError): GatewayError =>
	error.with({
		// An earlier try may have failed by the same limit.
		advice: [...new Set([notSentAgain(limit), error.failure.advice ?? ''])].join(' ').trim(),
		orderAdvice: undefined,
	});

/** What an item says whose first response was lost. */
export const requestSentTwice =
	'The request was sent twice, because no response of the service arrived the first time. You may be charged for both.';

/** Older Order Keys count as unused from now on. */
export const entriesDropped = (count: number): string =>
	`n8n's database keeps a limited number of orders of this node, and dropped its ${count} oldest entries. Order Keys among them could be ordered again.`;

// What an item without an order says.

export const keyUsed = (key: string, details: OrderDetails): string =>
	`${keysUsed([key])}${details.keyUse ? `: ${useOf(details.context, details.keyUse)}` : ''}`;

function keyUsedAdvice({ context, keyUse }: OrderDetails): string {
	const where = keyUse
		? `E${useOf(context, keyUse).slice(1)}: the ID of its job is there.`
		: 'The ID of its job is in the execution that ordered it.';
	return `${where} To order again, use another key, or run this node once with Release Order Key.`;
}

/** Names the execution that used an Order Key, but not its job: what one execution knows never serves another. */
const useOf = (context: IExecuteFunctions, { execution, time }: KeyUse): string =>
	`execution ${execution} used it on ${timeIn(context, time)}`;

export const keysUsed = (keys: string[]): string =>
	keys.length === 1
		? `Order Key ${quoted(keys[0])} was used before, so nothing was ordered`
		: `${keys.length} Order Keys were used before, so nothing was ordered for them: ${list(keys)}`;

export const keysReleased = (keys: string[]): string =>
	`Released, and nothing ordered: Order Key ${list(keys)}. Turn off Release Order Key to order again`;

/** Such as “3 orders”. */
export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/** The first keys, in quotation marks. */
export const list = (keys: string[]) => joinFirst(keys.map(quoted));

const quoted = (key: string) => `“${excerpt(key, 100)}”`;

/** Says when the execution that sent the order began. Its Retries keep that time. n8n 1 does not give it. */
function startOf({ context }: OrderDetails): string {
	const start = context.getExecutionContext?.()?.establishedAt;
	if (start === undefined) return '';
	return `, by the execution that began on ${timeIn(context, start)}, or by a Retry of it`;
}

const timeIn = (context: IExecuteFunctions, time: number): string =>
	new Intl.DateTimeFormat('en-GB', {
		...{ dateStyle: 'long', timeStyle: 'short', timeZone: context.getTimezone() },
	}).format(time);

/** The error of a stopped node. Requests that may have been accepted come first. */
export function stoppedError(failures: Array<{ item: number; error: unknown }>): {
	error: GatewayError;
	item?: number;
} {
	const accepted = failures.flatMap(({ item, error }) =>
		error instanceof GatewayError && mayHaveBeenAccepted(error.failure) ? [{ item, error }] : [],
	);
	const [first, ...others] = accepted;
	if (first === undefined) return { error: stopped() };
	if (others.length === 0) return first;
	const { orderAdvice = '' } = first.error.failure;
	const text = `The same applies to items ${others.map(({ item }) => item).join(', ')}.`;
	return {
		...first,
		error: first.error.with({ orderAdvice: `${orderAdvice} ${text}`.trim() }),
	};
}

/** True after a lost response or a stopped wait, but not after a failed job. */
function mayHaveBeenAccepted({ billed, reach, isStopped }: Failure): boolean {
	return billed === 'unknown' && (reach !== 'none' || isStopped === true);
}
