import { describeValue } from '../../service/json';
import type { Endpoint } from '../../service/protocol/endpoints';
import { isTool } from '../agent/tool';
import { hiddenForTools } from './editor';
import { fieldOf, type Field, type Report } from './field';
import { booleanField, choiceField, limitField, optionGroup } from './fieldKinds';
import type { Scope } from './itemParameters';
import { asKnown, asTrueOrFalse } from './spellings';
import { checked, intendedText } from './values';

/** The user's options for the order of one item. */
export interface OrderOptions {
	/** An order with this key is placed only once. */
	key?: string;
	/** Decides about an item whose key was used before. */
	ifOrderedBefore: 'skip' | 'drop' | 'fail';
	/** Whether to release the key instead of ordering. */
	releasesKey: boolean;
	/** The limits count separately for each, such as the name of a client; undefined: they count all orders together. */
	subject?: string;
	/** Those of an execution come first. */
	limits: readonly Limit[];
	/** Whether to send it again when its response was lost; undefined where the user has not decided. */
	resendsLost?: boolean;
}

/** For how long a limit counts: one execution with its Retries, or all executions of a day or a month. */
export type Period = 'execution' | 'day' | 'month';

/** A limit that the user has set. */
export interface Limit {
	/** Whether it counts orders or their estimated cost. */
	readonly of: 'orders' | 'cost';
	readonly period: Period;
	readonly max: number;
	/** Label of its field. */
	readonly field: string;
}

/** Maximum orders of a day that can be counted. */
export const maxOrdersCounted = 100_000;

/** Maximum cost per day that can be counted, in any currency. */
const maxCostCounted = 1_000_000_000;

/**
 * In the panel itself and not under "Options", so that a careful user finds it before the first order. An expression that
 * gives neither true nor false is a problem: it must not turn the preview off.
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
		// The parameter is missing in workflows that are older than the switch, and in nodes that do not show it.
		if (scope.written('preview') === undefined) return false;
		return checked(asTrueOrFalse(value) ?? value, { type: 'boolean' }, report);
	},
);

const orderKeyOption = fieldOf(
	'string',
	{
		displayName: 'Order Key',
		name: 'orderKey',
		placeholder: 'e.g. {{ $json.sku }}-2026-11',
		description:
			'This node orders only once with this key, in all executions. It remembers its newest 2,200 orders. Needs a saved workflow.',
	},
	(value, report): string | undefined => {
		if (value === undefined) return undefined;
		if (typeof value === 'boolean') report('must be a text (it is true or false)');
		return comparableIntended(value, report);
	},
);

/** The same for keys that look the same: typed in two forms of Unicode, or with invisible characters. */
const comparableText = (text: string) =>
	text
		.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
		.replace(/\s/g, ' ')
		.replace(/\p{Cc}/gu, '')
		.normalize('NFC')
		.trim();

const ifOrderedBeforeOption = choiceField({
	displayName: 'If Ordered Before',
	name: 'ifOrderedBefore',
	options: [
		{
			name: 'Drop the Item',
			value: 'drop',
			description: 'The item gives no output. A loop ends if a whole batch is dropped.',
		},
		{ name: 'Fail the Item', value: 'fail', description: 'The item fails with an error' },
		{
			name: 'Skip the Item',
			value: 'skip',
			description: 'The output has “ordered: false” and the reason',
		},
	],
	default: 'skip',
	rule: { type: 'string', values: ['drop', 'fail', 'skip'] },
	displayOptions: hiddenForTools,
	description: 'What to do when an order with the same Order Key was placed before',
});

const releaseOrderKeyOption = booleanField(
	{
		displayName: 'Release Order Key',
		name: 'releaseOrderKey',
		default: true,
		displayOptions: hiddenForTools,
		description:
			'Whether to free the Order Key instead of ordering, so that a later run can order with it again',
	},
	asTrueOrFalse,
);

const maxOrdersOption = limitField({
	displayName: 'Max Orders',
	name: 'maxOrders',
	rule: { type: 'integer', min: 0 },
	default: 3,
	description:
		'How many orders this node may place in one execution, with its loops and Retries, or as In Each says. If not set: no limit, but 3 for a tool of an agent.',
});

/** Reports a value that gives nothing: an order would be placed without its key, or count for nobody. */
const comparableIntended = (value: unknown, report: Report) =>
	intendedText(typeof value === 'string' ? comparableText(value) : value, report);

/** The limit of a tool when the user set none, because an agent may call it in a loop. */
const limitOfTool: Limit = {
	of: 'orders',
	period: 'execution',
	max: 3,
	field: maxOrdersOption.property.displayName,
};

const maxOrdersPerDayOption = limitField({
	displayName: 'Max Orders per Day',
	name: 'maxOrdersPerDay',
	rule: { type: 'integer', min: 0, max: maxOrdersCounted },
	default: 20,
	description:
		'How many orders this node may place in one day, in all executions together. Images count only in runs with a limit per day. The day has the time zone of the workflow. Needs a saved workflow.',
});

const maxCostOption = limitField({
	displayName: 'Max Cost',
	name: 'maxCost',
	rule: { type: 'number', min: 0 },
	default: 5,
	description:
		'What this node’s orders may cost in one execution, with its loops and Retries, or as In Each says. It is estimated by Prices in the credential.',
});

const maxCostPerDayOption = limitField({
	displayName: 'Max Cost per Day',
	name: 'maxCostPerDay',
	rule: { type: 'number', min: 0, max: maxCostCounted },
	default: 20,
	description:
		'What this node’s orders may cost in one day, in all executions together. It is estimated by Prices in the credential. Another amount begins a new count. Needs a saved workflow.',
});

const onceOptions = optionGroup({
	displayName: 'Order Once',
	name: 'once',
	rank: 1,
	placeholder: 'Add Field',
	default: { orderKey: '' },
	fields: [orderKeyOption, ifOrderedBeforeOption, releaseOrderKeyOption],
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

const inEachOption = choiceField({
	displayName: 'In Each',
	name: 'inEach',
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
	rule: { type: 'string', values: ['day', 'execution', 'month'] },
	description:
		'For how long Max Orders and Max Cost count. Days and months have the time zone of the workflow. They need a saved workflow.',
});

const limitOptions = optionGroup({
	displayName: 'Limits',
	name: 'limits',
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

/** Only the user can weigh money against time. Reads as whether to send again. @param resend what sending again means */
const ifNoResponseOption = (resend: string) =>
	fieldOf(
		'options',
		{
			displayName: 'If No Response Arrives',
			name: 'ifAnswerLost',
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
		},
		(value, report): boolean | undefined => {
			if (value === undefined) return undefined;
			const known = asKnown(value, ['stop', 'resend']);
			if (known !== undefined) return known === 'resend';
			// An expression that gives nothing or any other value must not decide about money.
			report(`must be stop or resend (it is ${describeValue(value)})`);
			return false;
		},
	);

const ifNoJobOption = ifNoResponseOption(
	'A call without a response is not charged, but a second job may run',
);

/** Unless it is set, an image that certainly is not charged is ordered again, and one that a proxy cut off at most once. */
const ifNoImageOption = ifNoResponseOption(
	'A call without a response is not charged, but one that a proxy has cut off may be',
);

/** Options of all operations that order videos or images. */
export const orderOptionsOf = ({ cost }: Pick<Endpoint, 'cost'>): Field[] => [
	onceOptions,
	limitOptions,
	cost === 'job' ? ifNoJobOption : ifNoImageOption,
];

export function readOrderOptions(options: Scope): OrderOptions {
	const once = onceOptions.read(options);
	const key = orderKeyOption.read(once);
	const releasesKey = releaseOrderKeyOption.read(once) ?? false;
	// Whoever added the group must not order without its protection.
	const { name, displayName } = onceOptions.property;
	if (options.value(name) !== undefined && key === undefined) {
		options.report(displayName, 'needs an Order Key', 'unsendable');
	}
	const chosen = ifOrderedBeforeOption.read(once);
	const ifOrderedBefore = chosen === 'fail' || chosen === 'drop' ? chosen : 'skip';
	const resendsLost = ifNoJobOption.read(options);
	return { key, ifOrderedBefore, releasesKey, resendsLost, ...readLimits(options) };
}

function readLimits(options: Scope): Pick<OrderOptions, 'subject' | 'limits'> {
	const scope = limitOptions.read(options);
	const chosen = inEachOption.read(scope);
	const inEach: Period = chosen === 'day' || chosen === 'month' ? chosen : 'execution';
	const given = [
		limitIn(scope, maxOrdersOption, 'orders', inEach),
		limitIn(scope, maxCostOption, 'cost', inEach),
		limitIn(scope, maxOrdersPerDayOption, 'orders', 'day'),
		limitIn(scope, maxCostPerDayOption, 'cost', 'day'),
	].flatMap((limit) => limit ?? []);
	const subject = countForOption.read(scope);
	// Whoever says what is counted must not order without a limit.
	const { name, displayName } =
		chosen === undefined ? countForOption.property : inEachOption.property;
	if (given.length === 0 && scope.value(name) !== undefined)
		options.report(displayName, 'needs a limit, such as Max Orders', 'unsendable');
	const isOfTool = isTool(options.parameters.context.getNode());
	const isUnlimited = !given.some(({ field }) => field === maxOrdersOption.property.displayName);
	const ofTool = isOfTool && isUnlimited ? [limitOfTool] : [];
	return { subject, limits: [...ofTool, ...given] };
}

function limitIn(
	scope: Scope,
	{ property, read }: Field<number | undefined>,
	of: Limit['of'],
	period: Period,
): Limit | undefined {
	const max = read(scope);
	return max === undefined ? undefined : { of, period, max, field: property.displayName };
}
