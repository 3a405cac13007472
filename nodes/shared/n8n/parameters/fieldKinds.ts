import type { INodeProperties, NodePropertyTypes } from 'n8n-workflow';
import {
	asText as textIn,
	describeValue,
	isObject,
	parseJson,
	toJson,
	type JsonObject,
} from '../../gateway/json';
import { fieldProblem, type Field as Rule } from '../../gateway/protocol/fields';
import type { Field } from './field';
import { placeIn, type Place } from './itemParameters';

/** What a declaration says: the texts of the editor, and the field of the request with its rule. */
type Declaration<Path extends string, Value> = Omit<INodeProperties, 'type' | 'default'> & {
	request?: Path;
	rule?: Rule;
	default?: Value;
};

type Own<Path extends string> = Pick<Field<unknown, Path>, 'property' | 'request' | 'rule'>;

function own<Path extends string>(
	type: NodePropertyTypes,
	{ request, rule, ...property }: Declaration<Path, INodeProperties['default']>,
): Own<Path> {
	return { property: { default: '', ...property, type }, request, rule };
}

/** Undefined when the user did not add it, or left it empty. */
export function textField<const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string | undefined, Path> {
	const { name, displayName } = declaration;
	return {
		...own('string', declaration),
		read(place) {
			const text = asText(place.value(name), displayName, place);
			return text === undefined || text.trim() === '' ? undefined : text;
		},
	};
}

/** A text that must not be empty. */
export function requiredText<const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string, Path> {
	const { name, displayName } = declaration;
	return {
		...own('string', declaration),
		read: (place) => filledText(place.value(name), displayName, place),
	};
}

/** A text, or a choice, that is checked with what it belongs to; what is no text is taken for nothing. */
export function looseText<const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string | undefined, Path> {
	const { name, options } = declaration;
	return {
		...own(options ? 'options' : 'string', declaration),
		read: (place) => textIn(place.value(name)),
	};
}

/** One text, or several, where the user gave any; empty ones are left out. */
export function textsField<const Path extends string = never>(
	declaration: Declaration<Path, string[]>,
): Field<string | string[] | undefined, Path> {
	const { name, displayName } = declaration;
	const typeOptions = { multipleValues: true, ...declaration.typeOptions };
	return {
		...own('string', { default: [], ...declaration, typeOptions }),
		read(place) {
			const value = place.value(name);
			const texts = (Array.isArray(value) ? value : [value])
				.map((entry) => asText(entry, displayName, place))
				.filter((text) => text !== undefined && text !== '');
			return texts.length > 1 ? (texts as string[]) : texts[0];
		},
	};
}

/** Undefined when the user did not add it, or left it empty. Without a rule, whatever was given is handed on. */
export function numberField<const Path extends string = never>(
	declaration: Declaration<Path, number>,
): Field<number | undefined, Path> {
	const required = requiredNumber(declaration);
	const { name } = declaration;
	return {
		...required,
		read: (place) => (isNothing(place.value(name)) ? undefined : required.read(place)),
	};
}

/** A number, or a text that is one, by its rule. */
export function requiredNumber<const Path extends string = never>({
	typeOptions,
	...declaration
}: Declaration<Path, number>): Field<number, Path> {
	const { name, displayName, rule } = declaration;
	const limits = {
		...(rule?.min !== undefined && { minValue: rule.min }),
		...(rule?.max !== undefined && { maxValue: rule.max }),
		...typeOptions,
	};
	return {
		...own('number', {
			default: (rule?.default as number | undefined) ?? 0,
			...declaration,
			...(Object.keys(limits).length > 0 && { typeOptions: limits }),
		}),
		read(place) {
			const value = asNumber(place.value(name));
			const problem = rule && fieldProblem(value, rule);
			if (problem !== undefined) place.report(displayName, problem);
			return value as number;
		},
	};
}

/** Milliseconds. @param unit milliseconds of what the user counts in */
export function durationField({
	unit,
	min,
	...declaration
}: Declaration<never, number> & { unit: number; min: number }): Field<number | undefined> {
	const shown = numberField({ ...declaration, rule: { type: 'number', min } });
	// A longer timer goes off at once.
	const max = Math.floor((2 ** 31 - 1) / unit);
	const { read } = numberField({ ...declaration, rule: { type: 'number', min, max } });
	return {
		...shown,
		read(place) {
			const value = read(place);
			return value === undefined ? undefined : value * unit;
		},
	};
}

/** Undefined when the user did not add it. */
export function booleanField<const Path extends string = never>(
	declaration: Declaration<Path, boolean> & { default: boolean },
): Field<boolean | undefined, Path> {
	const { name, displayName } = declaration;
	return {
		...own('boolean', declaration),
		read(place) {
			const value = place.value(name);
			if (isNothing(value)) return undefined;
			if (typeof value === 'boolean') return value;
			if (value === 'true' || value === 'false') return value === 'true';
			place.report(displayName, 'must be true or false');
			return undefined;
		},
	};
}

/** One of several texts; undefined when the user did not add it. Without a rule, any text is handed on. */
export function choiceField<const Path extends string = never>(
	declaration: Declaration<Path, string> & { default: string },
): Field<string | undefined, Path> {
	const { displayName, rule } = declaration;
	const { read, ...field } = textField(declaration);
	return {
		...field,
		...own('options', declaration),
		read(place) {
			const text = read(place);
			const problem = text === undefined || !rule ? undefined : fieldProblem(text, rule);
			if (problem !== undefined) place.report(displayName, problem);
			return text;
		},
	};
}

/** An object, or JSON text of one; undefined when the user did not add it, or left it empty. */
export function objectField(
	declaration: Declaration<never, string>,
): Field<JsonObject | undefined> {
	const { name, displayName } = declaration;
	return {
		...own('json', { default: '{}', ...declaration }),
		read(place) {
			const value = place.value(name);
			if (isNothing(value)) return undefined;
			const parsed = typeof value === 'string' ? parseJson(value) : toJson(value);
			if (isObject(parsed)) return parsed;
			place.report(displayName, 'must be a JSON object');
			return undefined;
		},
	};
}

/** A list of entries with fields of their own. @param entry what each is called, in the editor and in problems */
export function listField<const Path extends string = never>({
	entry,
	fields,
	...declaration
}: Declaration<Path, INodeProperties['default']> & {
	entry: string;
	fields: readonly Field[];
}): Field<Place[], Path> {
	const { name } = declaration;
	const values = fields.map(({ property }) => property);
	const typeOptions = { multipleValues: true, ...declaration.typeOptions };
	const options = [{ displayName: entry, name: 'values', values }];
	return {
		...own('fixedCollection', { default: {}, ...declaration, typeOptions, options }),
		entry: { label: entry, fields },
		/** Gives the places of the entries, in their order. */
		read(place) {
			const given = place.value(`${name}.values`);
			const list = Array.isArray(given) ? given.filter(isObject) : [];
			return list.map((values, index) => placeIn(place, values, `${entry} ${index + 1}`));
		},
	};
}

/** The field, with its default wherever the user gave no value. */
export function withDefault<Value, Path extends string>(
	field: Field<Value | undefined, Path>,
): Field<Value, Path> {
	const standard = field.property.default as Value;
	return { ...field, read: (place) => field.read(place) ?? standard };
}

const isNothing = (value: unknown) => value === undefined || value === null || value === '';

/** Numerals are numbers; anything else is left to the rule. */
function asNumber(value: unknown): unknown {
	const isNumeral =
		typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value));
	return isNumeral ? Number(value) : value;
}

function asText(value: unknown, field: string, place: Place): string | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value === 'string') return value;
	if (Number.isFinite(value) || typeof value === 'boolean') return String(value);
	place.report(field, `must be a text (it is ${describeValue(value)})`);
	return undefined;
}

/** Reports what is empty. */
export function filledText(value: unknown, field: string, place: Place): string {
	const { problems } = place.parameters;
	const before = problems.length;
	const text = asText(value, field, place) ?? '';
	// What is no text at all has been reported as that.
	if (text.trim() === '' && problems.length === before) place.report(field, 'is empty');
	return text;
}
