import { hiddenForTools } from './editor';
import { fieldOf, type Report } from './field';
import { choiceField, guardField, optionGroup } from './fieldKinds';
import type { Scope } from './itemParameters';
import { intendedText } from './values';

export interface OrderOnce {
	/** An order with this key is placed only once. */
	key?: string;
	ifOrderedBefore: 'skip' | 'drop' | 'fail';
	releasesKey: boolean;
}

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

/** The same for texts that look the same: typed in two forms of Unicode, or with invisible characters. */
const comparableText = (text: string) =>
	text
		.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
		.replace(/\s/g, ' ')
		.replace(/\p{Cc}/gu, '')
		.normalize('NFC')
		.trim();

const ifOrderedBeforeOption = choiceField('ifOrderedBefore', 'If Ordered Before', {
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

const releaseOrderKeyOption = guardField('releaseOrderKey', 'Release Order Key', {
	default: true,
	displayOptions: hiddenForTools,
	description:
		'Whether to release the Order Key instead of placing an order, so that a later run can use it again',
});

/** Reports a value that gives nothing: an order would be placed without its key, or count for nobody. */
export const comparableIntended = (value: unknown, report: Report) =>
	intendedText(typeof value === 'string' ? comparableText(value) : value, report);

export const onceOptions = optionGroup('once', 'Order Once', {
	rank: 1,
	placeholder: 'Add Field',
	default: { orderKey: '' },
	fields: [orderKeyOption, ifOrderedBeforeOption, releaseOrderKeyOption],
});

export function readOnce(options: Scope): OrderOnce {
	const once = onceOptions.read(options);
	const key = orderKeyOption.read(once);
	const releasesKey = releaseOrderKeyOption.read(once) ?? false;
	// A user who added the group must not order without its protection.
	const { name, displayName } = onceOptions.property;
	if (options.value(name) !== undefined && key === undefined) {
		options.report(displayName, 'needs an Order Key', 'unsendable');
	}
	const ifOrderedBefore = ifOrderedBeforeOption.read(once) ?? 'skip';
	return { key, releasesKey, ifOrderedBefore: ifOrderedBefore as OrderOnce['ifOrderedBefore'] };
}
