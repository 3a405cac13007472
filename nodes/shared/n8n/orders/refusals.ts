/** The errors of orders that are not sent: one for each reason, with what the user can do. */
import { GatewayError } from '../../service/errors/gatewayError';
import { excerpt, textAt } from '../../service/json';
import { idInSentence } from '../agent/dataNotice';
import { isTool } from '../agent/tool';
import { joinFirst } from '../errors/badInput';
import type { Limit } from '../parameters/orderOptions';
import { maxCountedSeparately } from './counts';
import type { Reason } from './decide';
import type { Ledger } from './ledger';
import { isLasting, reasonOf } from './limits';
import type { Line } from './line';
import { guardedOrders } from './marks';
import {
	counted,
	failureUnder,
	keyOf,
	keysUsed,
	orderAgain,
	quoted,
	timeIn,
	timeZoneOf,
	useOf,
} from './messages';
import type { Order } from './order';

/** A run, as the errors describe it. */
type Run = Pick<Ledger, 'context' | 'storeFailure' | 'usedBefore' | 'otherJobs' | 'useOfKey'>;

interface Refused {
	because: Reason;
	line: Line;
	run: Run;
	/** The earlier order, or others that may be the same. */
	orders: readonly Order[];
}

type Facts = ConstructorParameters<typeof GatewayError>[0];

/** The error of an order that is not sent. @param orders the earlier order, or others that may be the same */
export function refusal(
	because: Reason,
	line: Line,
	run: Run,
	orders: readonly Order[] = [],
): GatewayError {
	return new GatewayError(refusals[because]({ because, line, run, orders }));
}

const refusals: Record<Reason, (refused: Refused) => Facts> = {
	lost(refused) {
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
	reworded(refused) {
		const jobs = refused.orders.flatMap((order) =>
			order.state === 'answered' ? (order.job ?? []) : [],
		);
		const sent = new Set([...jobs, ...refused.run.otherJobs].map(({ id }) => id));
		const ids = joinFirst([...sent].map((id) => idInSentence(id, "in n8n's log")));
		const found = sent.size === 0 ? howToFind : `Collect these jobs with Wait for Video: ${ids}.`;
		return {
			message: `Another order was sent before in place of this one${startOf(refused.run)}`,
			advice: `Its prompt may have been reworded since, so nothing was sent in addition. ${found}`,
			orderAdvice: alreadySent(refused),
			billed: 'unknown',
			...(jobs.length > 0 && { job: jobs[0] }),
		};
	},
	keyUsed({ line, run }) {
		const use = useOf(line, run);
		const where = use
			? `E${use.slice(1)}: the ID of its job is there.`
			: 'The ID of its job is in the execution that ordered it.';
		return {
			message: keysUsed([keyOf(line)]),
			advice: `${where}${failureUnder(line, run)} ${orderAgain}`,
		};
	},
	keyOfOther: ({ line }) => ({
		message: `Order Key ${quoted(keyOf(line))} was used before, and for another order than this`,
		advice:
			'A key belongs to one order: the same model, prompt, files and options. Links that change, dates and random seeds make another order, too. Use another key, or run this node once with Release Order Key.',
	}),
	keyUnknown: (refused) => notLookedUp('Order Key', refused),
	unusable: ({ line }) => line.objection ?? { message: 'Not ordered: a file cannot be used' },
	limit: limitReached,
	costLimit: limitReached,
	limitOfDay: limitReached,
	costLimitOfDay: limitReached,
	limitOfMonth: limitReached,
	costLimitOfMonth: limitReached,
	dayUnknown: (refused) => notLookedUp(`orders of the ${lastingPeriodOf(refused)}`, refused),
	countFull: (refused) => ({
		message: `Not ordered: with Count For, n8n can count no more than ${maxCountedSeparately} orders of this node in a ${lastingPeriodOf(refused)}`,
		advice: 'Use a node of its own for some of the clients, or remove Count For.',
	}),
	triesUnknown: (refused) => notLookedUp('orders of earlier tries', refused),
	notRecorded,
	tooMany({ line }) {
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
	'It may have been accepted and may be running. Look for the ID of its job in n8n\'s log ("order created"), and enter it as Job ID in Wait for Video. Without an ID in the log, nothing tells whether it runs: the billing log lists only what was charged.';

/** Says that no retry sends the order again, and how to order it anyway. */
const alreadySent = ({ line }: Refused) =>
	`An earlier try has already sent this order. A retry does not send it again, because you could be charged twice. If a second charge is acceptable, ${keyOf(line) === '' ? '' : 'run this node once with Release Order Key, then '}execute the workflow again.`;

/** Says when the execution that sent the order began. Its Retries keep that time. n8n 1 does not give it. */
function startOf({ context }: Run): string {
	const start = context.getExecutionContext?.()?.establishedAt;
	if (start === undefined) return '';
	return `, by the execution that began on ${timeIn(context, start)}, or by a Retry of it`;
}

/** The period of the first limit that counts other executions, too. */
const lastingPeriodOf = ({ line }: Refused) =>
	line.options?.limits.find(isLasting)?.period ?? 'day';

function limitReached({ because, line, run }: Refused): Facts {
	const { options, cost } = line;
	const { context } = run;
	const limit = options?.limits.find((one) => reasonOf(one) === because) as Limit;
	const { of, period, max, field } = limit;
	const reached =
		of === 'cost'
			? `its estimated cost of ${cost ?? 'unknown size'} is more than what is left of the limit of ${max}`
			: `it would exceed the limit of ${counted(max, 'order')}`;
	const whose = options?.subject === undefined ? '' : ` for ${quoted(options.subject)}`;
	const used = run.usedBefore(line, limit);
	const before = used === undefined ? '' : ` (${used} used before this run)`;
	const until = { execution: '', day: 'at midnight', month: 'at the end of the month' }[period];
	const opens = until && `. It opens again ${until} (${timeZoneOf(context)}).`;
	const stopsAll = context.getInputData().length > 1 && !context.continueOnFail();
	const noneOrdered = stopsAll ? ' Until then, none of these items is ordered.' : '';
	return {
		message: `Not ordered: ${reached} per ${period}${whose}${before}${opens}`,
		// The model of an agent cannot change the options.
		advice: isTool(context.getNode())
			? 'Do not try again. Continue with what was ordered, or tell the user that the limit is reached.'
			: `To allow more, raise ${field}.${noneOrdered}`,
		retry_can_help: isLasting(limit),
	};
}

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
