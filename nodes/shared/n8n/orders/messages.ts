/** All messages about orders: why one is not sent, and what happened to one. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayError } from '../../service/errors/gatewayError';
import { excerpt, textAt } from '../../service/json';
import { idInSentence } from '../agent/dataNotice';
import { joinFirst } from '../errors/badInput';
import { failureOfJob } from '../execution/memory';
import type { Limit } from '../parameters/orderOptions';
import type { Reason } from './decide';
import type { KeyUse } from './keptJournals';
import { lastingPeriodOf, limitReached, quoted, tooManyToCount, type Facts } from './limitMessages';
import type { Line } from './line';
import { guardedOrders, type StoreFailure } from './marks';
import type { Order } from './order';

/** What the messages about the orders of a run need to know. */
interface RunFacts {
	context: IExecuteFunctions;
	storeFailure?: StoreFailure;
	/** What a limit of a day or month had counted for an item before this run. */
	usedBefore(line: Line, limit: Limit): number | undefined;
	/** Who used an Order Key before, if known. */
	useOfKey(key: string): KeyUse | undefined;
}

interface Refused {
	line: Line;
	run: RunFacts;
	/** What is known of the order, or of others that may be the same. */
	orders: readonly Order[];
}

/** What is said of an order that is not sent. */
const refusals: Record<Reason, (refused: Refused) => Facts> = {
	lost: (refused) => {
		const [known] = refused.orders;
		if (known?.state !== 'lost') return sentBefore(refused);
		const { isStopped, message, ...failure } = known.failure;
		return {
			...failure,
			message: isStopped ? 'An earlier try was stopped before its response arrived' : message,
			orderAdvice: alreadySent(refused),
			retry_can_help: false,
		};
	},
	sent: sentBefore,
	reworded: (refused) => {
		const jobs = refused.orders.flatMap((order) =>
			order.state === 'answered' ? (order.job ?? []) : [],
		);
		const ids = joinFirst(jobs.map(({ id }) => idInSentence(id, "in n8n's log")));
		const found =
			jobs.length === 0 ? howToFind : `Collect by Wait for Video what was sent: ${ids}.`;
		return {
			message: `Another order was sent before in place of this one${startOf(refused.run)}`,
			advice: `Its prompt may have been reworded since, so nothing was sent in addition. ${found}`,
			orderAdvice: alreadySent(refused),
			billed: 'unknown',
			...(jobs.length > 0 && { job: jobs[0] }),
		};
	},
	keyUsed: ({ line, run }) => {
		const use = useOf(line, run);
		const where = use
			? `E${use.slice(1)}: the ID of its job is there.`
			: 'The ID of its job is in the execution that ordered it.';
		return {
			message: keysUsed([keyOf(line)]),
			advice: `${where}${endOf(line, run)} ${orderAgain}`,
		};
	},
	keyOfOther: ({ line }) => ({
		message: `Order Key ${quoted(keyOf(line))} was used before, and for another order than this`,
		advice:
			'A key belongs to one order: the same model, prompt, files and options. Links that change, dates and random seeds make another order, too. Use another key, or run this node once with Release Order Key.',
	}),
	unusable: ({ line }) => line.objection ?? { message: 'Not ordered: a file cannot be used' },
	limit: (refused) => limitReached('limit', refused),
	costLimit: (refused) => limitReached('costLimit', refused),
	limitOfDay: (refused) => limitReached('limitOfDay', refused),
	costLimitOfDay: (refused) => limitReached('costLimitOfDay', refused),
	limitOfMonth: (refused) => limitReached('limitOfMonth', refused),
	costLimitOfMonth: (refused) => limitReached('costLimitOfMonth', refused),
	dayUnknown: (refused) => notLookedUp(`orders of the ${lastingPeriodOf(refused)}`, refused),
	countFull: tooManyToCount,
	keyUnknown: (refused) => notLookedUp('Order Key', refused),
	triesUnknown: (refused) => notLookedUp('orders of earlier tries', refused),
	notRecorded,
	tooMany: ({ line }) => {
		const hasKey = keyOf(line) !== '';
		const max = guardedOrders(hasKey);
		return {
			message: `Nothing was ordered, because the list has more than ${max} orders${hasKey ? ' with an Order Key' : ''}`,
			advice: `n8n's database can keep ${max} of them at most, and what it drops could be ordered twice. Order the list in parts, for example with Loop Over Items.`,
		};
	},
	unreadable: (refused) => ({
		message:
			'Nothing was sent, because the record of what earlier tries of this execution ordered cannot be read',
		advice:
			'A newer version of n8n-nodes-model-gateway has stored it, or it is damaged. Install the newest version, and press Retry. The IDs of created jobs are in n8n\'s log ("order created"): Wait for Video collects them.',
		orderAdvice: alreadySent(refused),
		billed: 'unknown',
	}),
};

/** Why an order is not sent. @param orders what is known of it, or of others that may be the same */
export const refusal = (
	because: Reason,
	line: Line,
	run: RunFacts,
	orders: readonly Order[] = [],
): GatewayError => new GatewayError(refusals[because]({ line, run, orders }));

/** Another try of this execution has sent the order, and nothing else is known of it. */
function sentBefore(refused: Refused): Facts {
	const { identity } = refused.line;
	const model = textAt(identity, 'model');
	const prompt = textAt(identity, 'input.prompt') ?? textAt(identity, 'prompt');
	const what = [model, prompt && `“${excerpt(prompt)}”`].filter(Boolean).join(', ');
	return {
		message: `This order was sent before${startOf(refused.run)}${what && ` (${what})`}`,
		advice: `n8n or the execution stopped before the ID of the job was stored, or an earlier Retry took the order over. ${howToFind}`,
		orderAdvice: alreadySent(refused),
		billed: 'unknown',
	};
}

const howToFind =
	'It may have been accepted and may be running. Look for the ID of its job in n8n\'s log ("order created"), and collect it by Wait for Video with that Job ID. Without an ID in the log, nothing tells whether it runs: the billing log lists only what was charged.';

/** Says that no retry sends the order again, and how to order it anyway. */
const alreadySent = ({ line }: Refused) =>
	`An earlier try has already sent this order. A retry does not send it again, because you could be charged twice. If a second charge is acceptable, ${keyOf(line) === '' ? '' : 'run this node once with Release Order Key, then '}execute the workflow again.`;

/** Without n8n's database, the key or limit that the user set cannot be guaranteed. */
function notLookedUp(guard: string, refused: Refused): Facts {
	if (!refused.run.storeFailure?.isMissing) return notRecorded(refused);
	return {
		message: `The ${guard} could not be looked up in n8n's database, so nothing was ordered`,
		advice: `Save the workflow if it is new, then run again. ${problemOf(refused)}`,
		retry_can_help: true,
	};
}

/** n8n's database did not work for some seconds. After a kill, nothing would show that the order was placed. */
function notRecorded(refused: Refused): Facts {
	// The record may be there, although n8n's database did not say so.
	const releaseIfUsed =
		keyOf(refused.line) === ''
			? ''
			: 'If the Order Key counts as used then, run this node once with Release Order Key. ';
	return {
		message: "n8n's database could not record the order; nothing was ordered",
		advice: `Run again. If this keeps happening, ask the administrator of n8n to check its database. ${releaseIfUsed}${problemOf(refused)}`,
		retry_can_help: true,
	};
}

const problemOf = ({ run }: Refused) => `n8n said: ${run.storeFailure?.problem ?? ''}`;

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

// What an item without an order says.

export function keyUsed(line: Line, run: RunFacts): string {
	const use = useOf(line, run);
	const end = endOf(line, run);
	const base = `${keysUsed([keyOf(line)])}${use === undefined ? '' : `: ${use}`}`;
	return end === '' ? base : `${base}.${end} ${orderAgain}`;
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

export const keyOf = ({ options }: Line): string => options?.key ?? '';

/** Names the execution that used an Order Key, but delivers nothing of it: what one execution knows never serves another. */
function useOf(line: Line, run: RunFacts): string | undefined {
	const use = run.useOfKey(keyOf(line));
	return use && `execution ${use.execution} used it on ${timeIn(run.context, use.time)}`;
}

/** Says that the job under an Order Key has failed, where this process knows it. */
function endOf(line: Line, run: RunFacts): string {
	const failure = failureOfJob(run.useOfKey(keyOf(line))?.job ?? '');
	return failure === undefined ? '' : ` Its job has failed: ${excerpt(failure)}.`;
}

const orderAgain = 'To order again, use another key, or run this node once with Release Order Key.';

/** Says when the execution that sent the order began. Its Retries keep that time. n8n 1 does not give it. */
function startOf({ context }: RunFacts): string {
	const start = context.getExecutionContext?.()?.establishedAt;
	if (start === undefined) return '';
	return `, by the execution that began on ${timeIn(context, start)}, or by a Retry of it`;
}

const timeIn = (context: IExecuteFunctions, time: number): string =>
	new Intl.DateTimeFormat('en-GB', {
		...{ dateStyle: 'long', timeStyle: 'short', timeZone: context.getTimezone() },
	}).format(time);
