/** All messages about limits: why one allows no order, and how far it is used. */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { GatewayError } from '../../service/errors/gatewayError';
import { excerpt } from '../../service/json';
import { sumOf } from '../../service/prices';
import { isTool } from '../agent/tool';
import { joinFirst } from '../errors/badInput';
import type { Limit, Period } from '../parameters/orderOptions';
import { isLasting, reasonOf, type LimitReason, type Usage } from './limits';
import type { Line } from './line';
import { maxCountedSeparately } from './counts';

interface Refused {
	line: Line;
	run: {
		context: IExecuteFunctions;
		/** What a limit of a day or month had counted for an item before this run. */
		usedBefore(line: Line, limit: Limit): number | undefined;
	};
}

export type Facts = ConstructorParameters<typeof GatewayError>[0];

/** The period of the first limit that counts other executions, too. */
export const lastingPeriodOf = ({ line }: Refused): Period =>
	line.options?.limits.find(isLasting)?.period ?? 'day';

export function limitReached(reason: LimitReason, { line, run }: Refused): Facts {
	const { options, cost } = line;
	const { context } = run;
	const limit = options?.limits.find((one) => reasonOf(one) === reason) as Limit;
	const { of, period, max, field } = limit;
	const reached =
		of === 'cost'
			? `its estimated cost of ${cost ?? 'unknown size'} is more than what is left of the limit of ${max}`
			: `it would exceed the limit of ${counted(max, 'order')}`;
	const whose = options?.subject === undefined ? '' : ` for ${quoted(options.subject)}`;
	const used = run.usedBefore(line, limit);
	const before = used === undefined ? '' : ` (${used} used before this run)`;
	const until = { execution: '', day: 'at midnight', month: 'at the end of the month' }[period];
	const opens = until && `. It opens again ${until} (${context.getTimezone()}).`;
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

/** n8n's store may have dropped early orders of a client. */
export const tooManyToCount = (refused: Refused): Facts => ({
	message: `Not ordered: with Count For, n8n can count no more than ${maxCountedSeparately} orders of this node in a ${lastingPeriodOf(refused)}`,
	advice: 'Use a node of its own for some of the clients, or remove Count For.',
});

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
