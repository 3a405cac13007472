import type { INodeProperties, NodePropertyTypes } from 'n8n-workflow';
import {
	asText,
	describeValue,
	isObject,
	parseJson,
	toJson,
	type JsonObject,
} from '../../service/json';
import { encodedLink } from '../../service/links';
import { fieldProblem, type FieldRule } from '../../service/protocol/fields';
import { accidentIn, accidentInJson, type Accident } from './accidentalText';
import { reportParts } from './expressionParts';
import type { Field } from './field';
import type { ProblemKind } from './itemParameters';
import { asBoolean, asKnown, asTrueOrFalse } from './spellings';

// The kinds of fields. An optional field reads as undefined when the user did not add it or left it empty.

/** What the editor shows of a field, and its path in the request with its rule. */
export type Declaration<Path extends string, Value> = Omit<INodeProperties, 'type' | 'default'> & {
	request?: Path;
	rule?: FieldRule;
	default?: Value;
	isSetting?: true;
	rank?: number;
};

/** Reports a problem under the field's label. */
export type Report = (problem: string, kind?: ProblemKind) => void;

/** A field of one parameter. @param parse reads the value, which can be anything when an expression gives it */
export function fieldOf<Value, Path extends string>(
	type: NodePropertyTypes,
	{ request, rule, isSetting, rank, ...property }: Declaration<Path, INodeProperties['default']>,
	parse: (value: unknown, report: Report) => Value,
): Field<Value, Path> {
	const { name, displayName } = property;
	// The rule of a field that is not sent is the node's own. Skip Checks must not skip it.
	const kindOf = request === undefined ? 'unsendable' : 'rule';
	return {
		property: { default: '', ...property, type },
		...{ request, rule, isSetting, rank },
		read(scope) {
			const report: Report = (problem, kind = kindOf) => scope.report(displayName, problem, kind);
			const value = scope.value(name);
			if (!isSetting) reportParts(scope.written(name), scope.parameters, report);
			return parse(value, report);
		},
	};
}

export const textField = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string | undefined, Path> =>
	fieldOf('string', declaration, (value, report) => {
		const text = textIn(value, report);
		if (declaration.request !== undefined) reportAccident(accidentIn(text ?? ''), report);
		return text;
	});

/** A text that must not be empty. */
export const requiredText = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string, Path> =>
	fieldOf('string', declaration, declaration.request === undefined ? nonEmptyText : intendedText);

/** A text or a choice that is checked later, with what it belongs to. A value that is no text reads as undefined. */
export const uncheckedText = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string | undefined, Path> =>
	fieldOf(declaration.options ? 'options' : 'string', declaration, (value) => {
		const text = asText(value);
		return asKnown(text, choicesOf(declaration)) ?? text;
	});

/** A link that is checked later, with what it belongs to. A list of links reads as one link per line. */
export const linkField = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string | undefined, Path> =>
	fieldOf('string', declaration, (value) => {
		const text = asText(Array.isArray(value) ? value.map(asText).join('\n') : value);
		return text && encodedLink(text);
	});

/** One or several texts. Empty texts are left out. */
export const textsField = <const Path extends string = never>(
	declaration: Declaration<Path, string[]>,
): Field<string | string[] | undefined, Path> =>
	fieldOf(
		'string',
		{
			default: [],
			...declaration,
			typeOptions: { multipleValues: true, ...declaration.typeOptions },
		},
		(value, report) => {
			const texts = (Array.isArray(value) ? value : [value])
				.map((entry) => toText(entry, report))
				.filter((text) => text !== undefined && text !== '');
			return texts.length > 1 ? (texts as string[]) : texts[0];
		},
	);

/** One of several texts, in the spelling of the menu. Without a rule, any text is accepted. */
export const choiceField = <const Path extends string = never>(
	declaration: Declaration<Path, string> & { default: string },
): Field<string | undefined, Path> =>
	fieldOf('options', declaration, (value, report) => {
		const text = textIn(value, report)?.trim();
		const known = asKnown(text, choicesOf(declaration)) ?? text;
		return known === undefined ? undefined : checked(known, declaration.rule, report);
	});

/** The values of the menu. */
const choicesOf = ({ options = [] }: Pick<INodeProperties, 'options'>): string[] =>
	options.flatMap((choice) => ('value' in choice ? String(choice.value) : []));

/** A number, or a text that is one. Without a rule, any value is accepted. */
export const numberField = <const Path extends string = never>(
	declaration: Declaration<Path, number>,
): Field<number | undefined, Path> =>
	fieldOf('number', withLimits(declaration), (value, report) =>
		isNothing(value) ? undefined : checked(asNumber(value), declaration.rule, report),
	);

/** A number that must not be left out. */
export const requiredNumber = <const Path extends string = never>(
	declaration: Declaration<Path, number>,
): Field<number, Path> =>
	fieldOf('number', withLimits(declaration), (value, report) =>
		checked(isNothing(value) ? undefined : asNumber(value), declaration.rule, report),
	);

/** A limit. Once the option is added, it must be a number: an empty value would leave the user without the limit. */
export const limitField = (declaration: Declaration<never, number>): Field<number | undefined> => {
	const { read, ...field } = requiredNumber(declaration);
	const { name } = declaration;
	return { ...field, read: (scope) => (scope.value(name) === undefined ? undefined : read(scope)) };
};

/** A duration in milliseconds. @param unit milliseconds in the unit of `min` and of what the user enters */
export function durationField({
	unit,
	min,
	...texts
}: Declaration<never, number> & { unit: number; min: number }): Field<number | undefined> {
	const declaration = { ...texts, rule: { type: 'number', min } } as const;
	// A longer timer would fire at once.
	const max = Math.floor((2 ** 31 - 1) / unit);
	return fieldOf('number', withLimits(declaration), (value, report) =>
		isNothing(value)
			? undefined
			: unit * checked<number>(asNumber(value), { ...declaration.rule, max }, report),
	);
}

/** @param readSwitch how a value that is no boolean is read */
export const booleanField = <const Path extends string = never>(
	declaration: Declaration<Path, boolean> & { default: boolean },
	readSwitch = asBoolean,
): Field<boolean | undefined, Path> =>
	fieldOf('boolean', declaration, (value, report) =>
		isNothing(value) ? undefined : checked(readSwitch(value) ?? value, { type: 'boolean' }, report),
	);

/** A switch for safety. An expression that gives neither true nor false is a problem: it must not turn the switch off. */
export function safetySwitch(
	declaration: Declaration<never, boolean> & { default: boolean },
): Field<boolean> {
	const { name } = declaration;
	const { read, ...field } = fieldOf('boolean', declaration, (value, report) => {
		const given = asTrueOrFalse(value) ?? value;
		return checked<boolean>(given, { type: 'boolean', required: true }, report);
	});
	return {
		...field,
		// The parameter is missing in workflows that are older than the switch, and in nodes that do not show it.
		read: (scope) =>
			scope.parameters.context.getNode().parameters[name] === undefined
				? declaration.default
				: read(scope),
	};
}

/** An object, or JSON text of one. */
export const objectField = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<JsonObject | undefined, Path> =>
	fieldOf('json', { default: '{}', ...declaration }, (value, report) => {
		if (isNothing(typeof value === 'string' ? value.trim() : value)) return undefined;
		const parsed = typeof value === 'string' ? parseJson(value) : toJson(value);
		if (isObject(parsed)) return parsed;
		report(`must be a JSON object (it is ${describeValue(value)})`, 'unsendable');
		return undefined;
	});

/** Any JSON, or text of it. An empty list, the default, reads as undefined: the editor marks an empty text as wrong. */
export const jsonField = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<unknown, Path> =>
	fieldOf('json', { rule: { type: 'json' }, default: '[]', ...declaration }, (value, report) => {
		if (isNothing(typeof value === 'string' ? value.trim() : value)) return undefined;
		const parsed = typeof value === 'string' ? parseJson(value) : toJson(value);
		if (Array.isArray(parsed) && parsed.length === 0) return undefined;
		if (parsed === undefined) report(`must be JSON (it is ${describeValue(value)})`, 'unsendable');
		else reportAccident(accidentInJson(parsed), report);
		return parsed ?? value;
	});

/** The field, which reads as its default when the user gave no value. */
export function withDefault<Value, Path extends string>(
	field: Field<Value | undefined, Path>,
): Field<Value, Path> {
	const standard = field.property.default as Value;
	return { ...field, read: (scope) => field.read(scope) ?? standard };
}

/** A text that must not be empty. */
function nonEmptyText(value: unknown, report: Report): string {
	const text = toText(value ?? '', report);
	if (text?.trim() === '') report('is empty');
	return text ?? '';
}

/** A text that must not be empty, and that somebody meant. @param isOrdered as in {@link accidentIn} */
export function intendedText(value: unknown, report: Report, isOrdered = false): string {
	const text = nonEmptyText(value, report);
	reportAccident(accidentIn(text, isOrdered), report);
	return text;
}

export function reportAccident(accident: Accident | undefined, report: Report): void {
	if (accident) report(accident.problem, accident.isHint && 'hint');
}

function textIn(value: unknown, report: Report): string | undefined {
	const text = toText(value, report);
	return text?.trim() === '' ? undefined : text;
}

/** The value as text. Undefined for no value, and for one that is no text, which is reported. */
function toText(value: unknown, report: Report): string | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value === 'string') return value;
	if (Number.isFinite(value) || typeof value === 'boolean') return String(value);
	report(`must be a text (it is ${describeValue(value)})`, 'unsendable');
	return undefined;
}

/** A numeral becomes a number. The rule checks anything else. */
function asNumber(value: unknown): unknown {
	const isNumeral =
		typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value));
	return isNumeral ? Number(value) : value;
}

/** The value. It has its type if there is a rule and no problem was reported. */
function checked<Value>(value: unknown, rule: FieldRule | undefined, report: Report): Value {
	// JSON would send NaN and Infinity as null.
	const isLost = typeof value === 'number' && !Number.isFinite(value);
	const applied = rule ?? (isLost ? ({ type: 'number' } as const) : undefined);
	const problem = applied && fieldProblem(value, applied);
	if (problem !== undefined) report(problem, isLost ? 'unsendable' : undefined);
	return value as Value;
}

/** Gives the editor the limits of the rule. */
function withLimits<Path extends string>({
	typeOptions,
	...declaration
}: Declaration<Path, number>): Declaration<Path, number> {
	const { min, max, default: standard = 0 } = declaration.rule ?? {};
	const limits = {
		...(min !== undefined && { minValue: min }),
		...(max !== undefined && { maxValue: max }),
		...typeOptions,
	};
	return {
		default: Number(standard),
		...declaration,
		...(Object.keys(limits).length > 0 && { typeOptions: limits }),
	};
}

const isNothing = (value: unknown) => value === undefined || value === null || value === '';
