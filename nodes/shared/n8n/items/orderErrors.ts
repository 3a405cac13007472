/** Why orders are not sent. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayError, type Failure } from '../../gateway/errors/gatewayError';
import { excerpt, textAt } from '../../gateway/json';
import { joinFirst } from '../errors/badInput';
import { alreadySent } from './ambiguousRequests';

/** The order was sent in an earlier try of this execution, and nothing was kept of it here. */
export function openOrderError(
	identity: unknown,
	key: string | undefined,
	context: IExecuteFunctions,
): GatewayError {
	const model = textAt(identity, 'model');
	const prompt = textAt(identity, 'input.prompt') ?? textAt(identity, 'prompt');
	const what = [model, prompt && `“${excerpt(prompt)}”`].filter(Boolean).join(', ');
	return notSent({
		message: `This order was sent before${startOf(context)}${what && ` (${what})`}`,
		text: `n8n ended or was stopped before it stored the ID of the job, or an earlier Retry took it over. ${howToFind}`,
		after: [alreadySent(key)],
		billed: 'unknown',
	});
}

/** An earlier try of this execution has sent an order that is not among those of this one. */
export function rewordedOrderError(context: IExecuteFunctions): GatewayError {
	return notSent({
		message: `In place of this order, another one was sent before${startOf(context)}`,
		text: `Its prompt may have been worded anew since, as by a model or the time of day, so this one was not sent in addition. ${howToFind.replace('It may', 'The earlier one may')}`,
		after: [alreadySent()],
		billed: 'unknown',
	});
}

const howToFind =
	'It may have been accepted and may be running. Look for the ID of its job in n8n\'s log ("was created") or in the billing log of the service, and collect it by Wait for Video with that Job ID.';

export function orderedBeforeError(key: string): GatewayError {
	return notSent({
		message: orderedBefore([key]),
		text: 'The ID of its job is in the execution that ordered it. To order again, use another key, or run this node once with Forget Order Key.',
	});
}

/** What is said of items that are left out. */
export const orderedBefore = (keys: string[]) =>
	keys.length === 1
		? `Order Key ${quoted(keys[0])} was used before, so nothing was ordered`
		: `${keys.length} Order Keys were used before, so nothing was ordered for them: ${list(keys)}`;

export const keysFreed = (keys: string[]) =>
	`Freed, and nothing ordered: Order Key ${list(keys)}. Turn off Forget Order Key to order again`;

export function otherOrderError(key: string): GatewayError {
	return notSent({
		message: `Order Key ${quoted(key)} was used before, and for another order than this`,
		text: 'A key belongs to one order: the same model, prompt, files and options. Links that change from day to day, dates and random seeds make another order, too. Give this one a key of its own. If the earlier order is not wanted any more, run this node once with Forget Order Key.',
	});
}

/** @param isTool the message is all that the model of an agent may read */
export function limitError(max: number, isTool: boolean): GatewayError {
	const orders = max === 1 ? '1 order' : `${max} orders`;
	return notSent({
		message: `Not ordered: ${orders} per execution ${max === 1 ? 'is' : 'are'} allowed, and the limit is reached`,
		text: isTool
			? 'Do not try again. Go on with what was ordered, or tell the user that the limit is reached.'
			: 'To allow more, raise Most Orders per Execution.',
	});
}

/** Without the store, an Order Key cannot keep its promise. */
export function noStoreError(cause: unknown): GatewayError {
	const detail = cause instanceof Error ? cause.message : String(cause);
	return notSent({
		message: "The Order Key could not be looked up in n8n's database, so nothing was ordered",
		text: `Save the workflow if it is new, then run again. n8n said: ${excerpt(detail)}`,
		retry_can_help: true,
	});
}

function notSent({
	message,
	text,
	after = [],
	...facts
}: Pick<Failure, 'message'> &
	Partial<Failure> & { text: string; after?: Failure['remedies'] }): GatewayError {
	return new GatewayError({
		message,
		remedies: [{ about: 'other', text }, ...after],
		reach: 'none',
		status: 0,
		billed: 'no',
		retry_can_help: false,
		...facts,
	});
}

const list = (keys: string[]) => joinFirst(keys.map(quoted));

const quoted = (key: string) => `“${excerpt(key, 100)}”`;

/** When the execution began that sent the order: its Retries keep the time. n8n 1 does not tell it. */
function startOf(context: IExecuteFunctions): string {
	const start = context.getExecutionContext?.()?.establishedAt;
	if (start === undefined) return '';
	const format = new Intl.DateTimeFormat('en-GB', {
		dateStyle: 'long',
		timeStyle: 'short',
		timeZone: context.getTimezone(),
	});
	return `, by the execution that began on ${format.format(start)}, or by a Retry of it`;
}
