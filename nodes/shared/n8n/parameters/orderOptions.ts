import type { INodeProperties } from 'n8n-workflow';
import type { Endpoint } from '../../service/protocol/endpoints';
import { isTool } from '../agent/tool';
import { hiddenForTools } from './editor';
import { fieldOf, type Field } from './field';
import { optionGroup, requiredChoice, requiredNumber } from './fieldKinds';
import type { Scope } from './itemParameters';
import { comparableIntended, onceOptions, readOnce, type OrderOnce } from './orderOnce';
import { asTrueOrFalse } from './spellings';
import { checked } from './values';

export interface OrderOptions extends OrderOnce {
	/** Such as a client: the limits count separately for each. Undefined: they count all orders together. */
	subject?: string;
	/** Those of an execution come first. */
	limits: readonly Limit[];
	/** Whether to send it again when its response was lost; undefined where the user has not decided. */
	resendsLost?: boolean;
}

/** For how long a limit counts: one execution with its Retries, or all executions of a day or a month. */
export type Period = 'execution' | 'day' | 'month';

export interface Limit {
	/** It counts orders or their estimated cost. */
	readonly of: 'orders' | 'cost';
	readonly period: Period;
	readonly max: number;
	/** Label of its field. */
	readonly field: string;
}

export const maxOrdersCounted = 100_000;

/** The most that can be counted in a day or month: orders, or their cost in any currency. */
const maxCounted = { orders: maxOrdersCounted, cost: 1_000_000_000 };

/**
 * Not under "Options", so that a careful user finds it before the first order. An expression that gives neither true nor
 * false is a problem: it must not turn the preview off.
 */
export const previewField = fieldOf(
	'boolean',
	{
		displayName: 'Preview (Order Nothing)',
		name: 'preview',
		default: false,
		displayOptions: hiddenForTools,
		description:
			'Whether to check everything and show what this node would order, without sending or charging anything',
	},
	(value, report, scope): boolean => {
		// It is missing in workflows that are older than the switch, and in nodes that do not show it.
		if (scope.written('preview') === undefined) return false;
		return checked(asTrueOrFalse(value) ?? value, { type: 'boolean' }, report);
	},
);

const maxOrdersOption = requiredNumber('maxOrders', 'Max Orders', {
	rule: { type: 'integer', min: 0 },
	default: 3,
	description:
		'How many orders this node may place in one execution, with its loops and Retries, or as In Each says. If not set: no limit, but 3 for a tool of an agent.',
});

/** For a tool without another one, because an agent may call it in a loop. */
const limitOfTool: Limit = {
	of: 'orders',
	period: 'execution',
	max: 3,
	field: maxOrdersOption.property.displayName,
};

const maxOrdersPerDayOption = requiredNumber('maxOrdersPerDay', 'Max Orders per Day', {
	rule: { type: 'integer', min: 0, max: maxOrdersCounted },
	default: 20,
	description:
		'How many orders this node may place in one day, in all executions together. Images count only in runs with a limit per day. The day has the time zone of the workflow. Needs a saved workflow.',
});

const maxCostOption = requiredNumber('maxCost', 'Max Cost', {
	rule: { type: 'number', min: 0 },
	default: 5,
	description:
		'What this node’s orders may cost in one execution, with its loops and Retries, or as In Each says. It is estimated by Prices in the credential.',
});

const maxCostPerDayOption = requiredNumber('maxCostPerDay', 'Max Cost per Day', {
	rule: { type: 'number', min: 0, max: maxCounted.cost },
	default: 20,
	description:
		'What this node’s orders may cost in one day, in all executions together. It is estimated by Prices in the credential. Another amount begins a new count. Needs a saved workflow.',
});

const countForOption = fieldOf(
	'string',
	{
		displayName: 'Count For',
		name: 'countFor',
		placeholder: 'e.g. {{ $json.client }}',
		description:
			'The limits count separately for each value of this, such as a client, a form or an agent. If not set, they count all orders of this node together.',
	},
	(value, report) => (value === undefined ? undefined : comparableIntended(value, report)),
);

const inEachOption = requiredChoice('inEach', 'In Each', {
	options: [
		{ name: 'Day', value: 'day', description: 'Counts all executions of the day' },
		{
			name: 'Execution',
			value: 'execution',
			description: 'Counts one execution with its loops and Retries',
		},
		{ name: 'Month', value: 'month', description: 'Counts all executions of the month' },
	],
	default: 'execution',
	description:
		'For how long Max Orders and Max Cost count. Days and months have the time zone of the workflow. They need a saved workflow.',
});

const limitOptions = optionGroup('limits', 'Limits', {
	rank: 2,
	placeholder: 'Add Limit',
	fields: [
		maxOrdersOption,
		maxOrdersPerDayOption,
		maxCostOption,
		maxCostPerDayOption,
		countForOption,
		inEachOption,
	],
});

/** The user weighs money against time. @param resend what sending again means */
const ifNoResponse = (resend: string) =>
	requiredChoice('ifAnswerLost', 'If No Response Arrives', {
		rank: 3,
		isSetting: true,
		options: [
			{ name: 'Send Again', value: 'resend', description: resend },
			{
				name: 'Stop and Report',
				value: 'stop',
				description: 'Nothing is sent twice; the item fails with what is known',
			},
		],
		default: 'stop',
		description: 'What to do when the connection broke after the request was sent',
	});

const ifNoJobOption = ifNoResponse(
	'A call without a response is not charged, but a second job may run',
);

/** If not set: an image that certainly is not charged is ordered again, and one that a proxy cut off at most once. */
const ifNoImageOption = ifNoResponse(
	'A call without a response is not charged, but one that a proxy has cut off may be',
);

/** Shown where a workflow has it, so that the user can delete it. Otherwise n8n would drop its value unseen. */
const strayField = (name: string, displayName: string, problem: string) =>
	fieldOf(
		'string',
		{
			name,
			displayName,
			displayOptions: { show: { [name]: [{ _cnd: { exists: true } }] } },
		},
		(value, report) => {
			if (value !== undefined && value !== 0) report(problem);
		},
	);

/**
 * Guards outside their groups, and options that are a text, an expression or a list, which have a length: a workflow that a
 * model wrote may be like this, and would order unguarded.
 */
const strayGuards = [
	...[onceOptions, limitOptions].flatMap(({ property: { displayName: group, options = [] } }) =>
		(options as INodeProperties[]).map(({ name, displayName }) => {
			const problem = `must be in ${group}: delete it here, and add it under Options, ${group}`;
			return strayField(name, displayName, problem);
		}),
	),
	strayField('length', 'Options', 'cannot be read: delete them, and add them one by one'),
];

export const orderOptionsOf = ({ cost }: Pick<Endpoint, 'cost'>): Field[] => [
	onceOptions,
	limitOptions,
	cost === 'job' ? ifNoJobOption : ifNoImageOption,
	...strayGuards,
];

export function readOrderOptions(options: Scope): OrderOptions {
	for (const field of strayGuards) field.read(options);
	const once = readOnce(options);
	// It reads the same for jobs and images.
	const ifLost = ifNoJobOption.read(options);
	return { ...once, ...(ifLost && { resendsLost: ifLost === 'resend' }), ...readLimits(options) };
}

function readLimits(options: Scope): Pick<OrderOptions, 'subject' | 'limits'> {
	const scope = limitOptions.read(options);
	const inEach = (inEachOption.read(scope) ?? 'execution') as Period;
	const fields = [
		{ of: 'orders', period: inEach, option: maxOrdersOption },
		{ of: 'cost', period: inEach, option: maxCostOption },
		{ of: 'orders', period: 'day', option: maxOrdersPerDayOption },
		{ of: 'cost', period: 'day', option: maxCostPerDayOption },
	] as const;
	const isGiven = ({ property }: Field) => scope.value(property.name) !== undefined;
	const given = fields
		.filter(({ option }) => isGiven(option))
		.map(({ of, period, option }): Limit => {
			const { rule, property } = option;
			const field = property.displayName;
			const max = option.read(scope);
			const most = maxCounted[of];
			if (period !== 'execution' && rule?.max === undefined && max > most) {
				const problem = `must be at most ${most} in each ${period} (it is ${max})`;
				options.report(field, problem, 'unsendable');
			}
			return { of, period, max, field };
		});
	const subject = countForOption.read(scope);
	// A user who added the group must not order without a limit. If it is a text, a list or an expression, as in an imported
	// workflow, n8n gives an empty one.
	const { name, displayName } = limitOptions.property;
	const isAdded = options.value(name) !== undefined;
	if (given.length === 0 && isAdded) {
		const setting = [inEachOption, countForOption].find(isGiven);
		const label = setting?.property.displayName ?? displayName;
		options.report(label, 'needs a limit, such as Max Orders: add one, or delete it', 'unsendable');
	}
	const isUnlimited = !given.some(({ field }) => field === limitOfTool.field);
	const isOfTool = isTool(options.parameters.context.getNode());
	return { subject, limits: isOfTool && isUnlimited ? [limitOfTool, ...given] : given };
}
