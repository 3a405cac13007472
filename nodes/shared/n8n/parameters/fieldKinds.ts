import type { FieldRule } from '../../service/protocol/fields';
import {
	asText,
	describeValue,
	isObject,
	valueAt,
	withoutUndefined,
	type JsonObject,
} from '../../service/json';
import { encodedLink } from '../../service/links';
import { accidentIn, accidentInJson } from './accidentalText';
import { fieldOf, type Declaration, type Field, type Report } from './field';
import { scopeIn, scopeOfOptions, type Scope } from './itemParameters';
import {
	checked,
	intendedText,
	isBlank,
	isNothing,
	jsonIn,
	nonEmptyText,
	numberIn,
	reportAccident,
	textIn,
	toText,
} from './values';
import { asBoolean, asKnown } from './spellings';

// The kinds of fields. An optional field reads as undefined when the user did not add it or left it empty.

export const textField = (declaration: Declaration): Field<string | undefined> =>
	fieldOf('string', declaration, (value, report) => {
		const text = textIn(value, report);
		if (declaration.request !== undefined) reportAccident(accidentIn(text ?? ''), report);
		return text;
	});

/** A text that must not be empty. */
export const requiredText = (declaration: Declaration): Field<string> =>
	fieldOf('string', declaration, (value, report) =>
		declaration.request === undefined ? nonEmptyText(value, report) : intendedText(value, report),
	);

/** A text or a choice that is checked later, with what it belongs to. A value that is no text reads as undefined. */
export const uncheckedText = (declaration: Declaration): Field<string | undefined> =>
	fieldOf(declaration.options ? 'options' : 'string', declaration, (value) => {
		const text = asText(value);
		return asKnown(text, choicesOf(declaration)) ?? text;
	});

/** A link that is checked later, with what it belongs to. A list of links reads as one link per line. */
export const linkField = (declaration: Declaration): Field<string | undefined> =>
	fieldOf('string', declaration, (value) => {
		const text = asText(Array.isArray(value) ? value.map(asText).join('\n') : value);
		return text && encodedLink(text);
	});

/** One or several texts. Empty texts are left out. */
export function textsField(declaration: Declaration): Field<string | string[] | undefined> {
	const typeOptions = { multipleValues: true, ...declaration.typeOptions };
	const shown = { default: [], ...declaration, typeOptions };
	return fieldOf('string', shown, (value, report) => {
		const texts = (Array.isArray(value) ? value : [value]).flatMap(
			(entry) => toText(entry, report) || [],
		);
		return texts.length > 1 ? texts : texts[0];
	});
}

/** One of several texts, in the spelling of the menu. Without a rule, any text is accepted. */
export const choiceField = (
	declaration: Declaration & { default: string },
): Field<string | undefined> =>
	fieldOf('options', declaration, (value, report) => {
		const text = textIn(value, report)?.trim();
		const known = asKnown(text, choicesOf(declaration)) ?? text;
		return known === undefined ? undefined : checked(known, declaration.rule, report);
	});

/** The values of the menu. */
const choicesOf = ({ options = [] }: Declaration): string[] =>
	options.flatMap((choice) => ('value' in choice ? String(choice.value) : []));

/** A number, or a text that is one. Without a rule, any value is accepted. */
export const numberField = (declaration: Declaration): Field<number | undefined> =>
	fieldOf('number', withLimits(declaration), (value, report) =>
		isNothing(value) ? undefined : numberIn(value, declaration.rule, report),
	);

/** A number that must not be left out. */
export const requiredNumber = (declaration: Declaration): Field<number> =>
	fieldOf('number', withLimits(declaration), (value, report) =>
		numberIn(value, declaration.rule, report),
	);

/** A limit. Once the option is added, it must be a number: an empty value would leave the user without the limit. */
export const limitField = (declaration: Declaration): Field<number | undefined> =>
	fieldOf('number', withLimits(declaration), (value, report) =>
		value === undefined ? undefined : numberIn(value, declaration.rule, report),
	);

/** A duration in milliseconds. @param unit milliseconds in the unit of `min` and of what the user enters */
export function durationField({
	unit,
	min,
	...texts
}: Declaration & { unit: number; min: number }): Field<number | undefined> {
	const rule: FieldRule = { type: 'number', min };
	// A longer timer would fire at once.
	const max = Math.floor((2 ** 31 - 1) / unit);
	return fieldOf('number', withLimits({ ...texts, rule }), (value, report) =>
		isNothing(value) ? undefined : unit * numberIn(value, { ...rule, max }, report),
	);
}

/** @param readSwitch how a value that is no boolean is read */
export const booleanField = (
	declaration: Declaration & { default: boolean },
	readSwitch = asBoolean,
): Field<boolean | undefined> =>
	fieldOf('boolean', declaration, (value, report) =>
		isNothing(value) ? undefined : checked(readSwitch(value) ?? value, { type: 'boolean' }, report),
	);

/** An object, or JSON text of one. */
export const objectField = (declaration: Declaration): Field<JsonObject | undefined> =>
	fieldOf('json', { default: '{}', ...declaration }, (value, report) => {
		if (isBlank(value)) return undefined;
		const json = jsonIn(value);
		if (isObject(json)) return json;
		report(`must be a JSON object (${notJson(value, json)})`, 'unsendable');
		return undefined;
	});

/** Any JSON, or text of it. An empty list, the default, reads as undefined: the editor marks an empty text as wrong. */
export const jsonField = (declaration: Declaration): Field =>
	fieldOf('json', { rule: { type: 'json' }, default: '[]', ...declaration }, (value, report) => {
		if (isBlank(value)) return undefined;
		const json = jsonIn(value);
		if (Array.isArray(json) && json.length === 0) return undefined;
		if (json === undefined) report(`must be JSON (${notJson(value)})`, 'unsendable');
		else reportAccident(accidentInJson(json), report);
		return json ?? value;
	});

/** Why a value is not the JSON that a field takes. @param json what it is as JSON */
const notJson = (value: unknown, json?: unknown) =>
	typeof value === 'object' && json === undefined
		? 'it has a value that JSON does not have, such as NaN'
		: `it is ${describeValue(value)}`;

/** Options that belong together. They read as the group's own scope, which is empty if the user did not add it. */
export function optionGroup({
	fields,
	...declaration
}: Declaration & { fields: readonly Field[] }): Field<Scope> {
	const options = fields.map(({ property }) => property);
	return fieldOf('collection', { default: {}, ...declaration, options }, (_value, _report, scope) =>
		scopeOfOptions(scope, declaration.name),
	);
}

/**
 * A list of entries, each with fields of its own.
 * @param read reads the entries in their order; their problems are reported under the label of an entry and its number
 */
export function listField<Value>({
	read,
	...declaration
}: Declaration & {
	entry: { label: string; fields: readonly Field[] };
	read(entries: Scope[], report: Report): Value;
}): Field<Value> {
	const { label, fields } = declaration.entry;
	const shown = {
		default: {},
		...declaration,
		typeOptions: {
			multipleValues: true,
			// The title of an entry in n8n's new panel for collections, which 2.40 does not show to all users yet.
			fixedCollection: { itemTitle: `=${label} {{ $collection.item.index + 1 }}` },
			...declaration.typeOptions,
		},
		options: [
			{ displayName: label, name: 'values', values: fields.map(({ property }) => property) },
		],
	};
	return fieldOf('fixedCollection', shown, (value, report, scope) => {
		const given = valueAt(value, 'values');
		const entries = Array.isArray(given) ? given.filter(isObject) : [];
		const path = `${declaration.name}.values`;
		return read(
			entries.map((values, index) =>
				scopeIn(scope, `${path}.${index}`, values, `${label} ${index + 1}`),
			),
			report,
		);
	});
}

/** Gives the editor the limits of the rule. */
function withLimits(declaration: Declaration): Declaration {
	const { min, max, default: standard = 0 } = declaration.rule ?? {};
	const limits = withoutUndefined({ minValue: min, maxValue: max });
	const typeOptions = { ...limits, ...declaration.typeOptions };
	const isLimited = Object.keys(typeOptions).length > 0;
	return { default: Number(standard), ...declaration, ...(isLimited && { typeOptions }) };
}

/** The field, which reads as its default when the user gave no value. */
export function withDefault<Value>(field: Field<Value | undefined>): Field<Value> {
	const standard = field.property.default as Value;
	return { ...field, read: (scope) => field.read(scope) ?? standard };
}
