import type { INodeProperties, NodePropertyTypes } from 'n8n-workflow';
import { asText, describeValue, isObject, valueAt } from '../../service/json';
import { encodedLink } from '../../service/links';
import { accidentIn } from './accidentalText';
import { fieldOf, type Declaration, type Field, type Report } from './field';
import { scopeIn, scopeOfOptions, type Scope } from './itemParameters';
import {
	checked,
	isBlank,
	isNothing,
	jsonIn,
	numberIn,
	reportAccident,
	textIn,
	toText,
} from './values';
import { asBoolean, asKnown, asTrueOrFalse } from './spellings';

// The kinds of fields. An optional field reads as undefined when the user did not add it or left it empty.

/** The declaration of a field without its name and its label. */
export type Facts = Omit<Declaration, 'name' | 'displayName'>;

const kindOf =
	<Value>(
		type: NodePropertyTypes,
		parse: (value: unknown, report: Report, facts: Facts) => Value,
		defaults: Facts = {},
	) =>
	(name: string, displayName: string, facts: Facts): Field<Value> => {
		const all = { ...defaults, ...facts };
		return fieldOf(type, { name, displayName, ...all }, (value, report) =>
			parse(value, report, all),
		);
	};

export const textField = kindOf('string', (value, report, { request }) => {
	const text = textIn(value, report);
	if (request === undefined) return text;
	reportAccident(accidentIn(text ?? ''), report);
	return text?.trim();
});

/** A text that is checked later, with what it belongs to. Any other value reads as undefined. */
export const uncheckedText = kindOf('string', asText);

/** A link that is checked later, with what it belongs to. A list of links reads as one link per line. */
export const linkField = kindOf('string', (value) => {
	const text = asText(Array.isArray(value) ? value.map(asText).join('\n') : value);
	return text && encodedLink(text);
});

/** One text or several, without empty ones. */
export const textsField = kindOf(
	'string',
	(value, report) => {
		const texts = (Array.isArray(value) ? value : [value]).flatMap(
			(entry) => toText(entry, report) || [],
		);
		return texts.length > 1 ? texts : texts[0];
	},
	{ default: [] },
);

/** One of several texts, in the spelling of the menu. Without a rule, any text is accepted. */
export const choiceField = kindOf('options', (value, report, { rule, options = [] }) => {
	const text = textIn(value, report)?.trim();
	const known = asKnown(text, valuesOf(options)) ?? text;
	return known === undefined ? undefined : checked<string>(known, rule, report);
});

/** One of the values of the menu, about money; undefined where it is an option that was not added. */
export const requiredChoice = kindOf('options', (value, report, { options = [] }) => {
	if (value === undefined) return undefined;
	const values = valuesOf(options);
	return checked<string>(asKnown(value, values) ?? value, { type: 'string', values }, report);
});

const valuesOf = (options: NonNullable<INodeProperties['options']>): string[] =>
	options.flatMap((choice) => ('value' in choice ? String(choice.value) : []));

/** Milliseconds. A longer timer fires at once. */
const longestTimer = 2 ** 31 - 1;

/** A number, or a text that is one. Without a rule, any value is accepted. */
export const numberField = kindOf('number', (value, report, { rule, unit }) => {
	if (isNothing(value)) return undefined;
	const number = numberIn(value, rule, report);
	return unit === undefined ? number : Math.min(unit * number, longestTimer);
});

/** A number that must not be left empty. */
export const requiredNumber = kindOf('number', (value, report, { rule }) =>
	numberIn(value, rule, report),
);

const switchKind = (read: typeof asBoolean) =>
	kindOf('boolean', (value, report) =>
		isNothing(value)
			? undefined
			: checked<boolean>(read(value) ?? value, { type: 'boolean' }, report),
	);

export const booleanField = switchKind(asBoolean);

/** A switch that guards money. */
export const guardField = switchKind(asTrueOrFalse);

/** A switch that is always shown, and never undefined. */
export const switchField = (name: string, displayName: string, facts: Facts) =>
	withDefault(booleanField(name, displayName, facts));

/**
 * JSON, or text of it. An empty list reads as undefined: some fields have it as their default, because the editor marks
 * an empty text as wrong.
 * @param what continues "must be"
 */
const jsonKind = <Value>(
	what: string,
	accepts: (json: unknown) => json is Value,
	defaults: Facts,
) =>
	kindOf(
		'json',
		(value, report) => {
			const json = jsonIn(value);
			if (isBlank(value) || (Array.isArray(json) && json.length === 0)) return undefined;
			if (accepts(json)) return json;
			const isLossy = typeof value === 'object' && json === undefined;
			const found = isLossy
				? 'has a value that JSON does not have, such as NaN'
				: `is ${describeValue(value)}`;
			report(`must be ${what} (it ${found})`, 'unsendable');
			return accepts(value) ? value : undefined;
		},
		defaults,
	);

export const objectField = jsonKind('a JSON object', isObject, { default: '{}' });

export const jsonListField = jsonKind('a JSON list', (json) => Array.isArray(json), {
	default: '[]',
});

export const jsonField = jsonKind('JSON', (json): json is unknown => json !== undefined, {
	default: '[]',
	rule: { type: 'json' },
});

/** Options that belong together. They read as the group's own scope, which is empty if the user did not add it. */
export function optionGroup(
	name: string,
	displayName: string,
	{ fields, ...facts }: Facts & { fields: readonly Field[] },
): Field<Scope> {
	const options = fields.map(({ property }) => property);
	const shown = { name, displayName, default: {}, ...facts, options };
	return fieldOf('collection', shown, (_value, _report, scope) => scopeOfOptions(scope, name));
}

/** @param read reads the entries in their order; their problems have the label of an entry and its number */
export function listField<Value>(
	name: string,
	displayName: string,
	{
		read,
		...facts
	}: Facts & {
		entry: { label: string; fields: readonly Field[] };
		read(entries: Scope[], report: Report): Value;
	},
): Field<Value> {
	const { label, fields } = facts.entry;
	const shown = {
		name,
		displayName,
		default: {},
		...facts,
		typeOptions: {
			multipleValues: true,
			// For n8n's new panel of collections, which 2.40 does not show to all users yet.
			fixedCollection: { itemTitle: `=${label} {{ $collection.item.index + 1 }}` },
			...facts.typeOptions,
		},
		options: [
			{ displayName: label, name: 'values', values: fields.map(({ property }) => property) },
		],
	};
	return fieldOf('fixedCollection', shown, (value, report, scope) => {
		const given = valueAt(value, 'values');
		const entries = Array.isArray(given) ? given.filter(isObject) : [];
		const scopes = entries.map((values, index) =>
			scopeIn(scope, `${name}.values.${index}`, values, `${label} ${index + 1}`),
		);
		return read(scopes, report);
	});
}

/** The field, which reads as its default when the user gave no value. */
export function withDefault<Value>(field: Field<Value | undefined>): Field<Value> {
	const standard = field.property.default as Value;
	return { ...field, read: (scope) => field.read(scope) ?? standard };
}
