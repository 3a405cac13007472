import type { INodeProperties, NodePropertyTypes } from 'n8n-workflow';
import {
	asText,
	describeValue,
	isObject,
	parseJson,
	toJson,
	type JsonObject,
} from '../../gateway/json';
import { fieldProblem, type FieldRule } from '../../gateway/protocol/fields';
import type { Field } from './field';
import type { ProblemKind } from './itemParameters';

// The kinds of fields. An optional one gives undefined where the user did not add it, or left it empty.

/** What the editor shows, and the field of the request with its rule. */
export type Declaration<Path extends string, Value> = Omit<INodeProperties, 'type' | 'default'> & {
	request?: Path;
	rule?: FieldRule;
	default?: Value;
};

/** Reports a problem under the field's label. */
export type Report = (problem: string, kind?: ProblemKind) => void;

/** A field of one parameter. @param parse reads its value, which may be anything where an expression gave it */
export function fieldOf<Value, Path extends string>(
	type: NodePropertyTypes,
	{ request, rule, ...property }: Declaration<Path, INodeProperties['default']>,
	parse: (value: unknown, report: Report) => Value,
): Field<Value, Path> {
	const { name, displayName } = property;
	// The rule of a field that is not sent is our own, and the node could not work without it.
	const kindOf = request === undefined ? 'unsendable' : 'rule';
	return {
		property: { default: '', ...property, type },
		...{ request, rule },
		read: (scope) =>
			parse(scope.value(name), (problem, kind = kindOf) =>
				scope.report(displayName, problem, kind),
			),
	};
}

export const textField = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string | undefined, Path> => fieldOf('string', declaration, textIn);

/** A text that must not be empty. */
export const requiredText = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string, Path> => fieldOf('string', declaration, nonEmptyText);

/** A text, or a choice, that is checked with what it belongs to; what is no text is taken for nothing. */
export const uncheckedText = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string | undefined, Path> =>
	fieldOf(declaration.options ? 'options' : 'string', declaration, asText);

/** A link, checked with what it belongs to. Of a list, which an expression may give, each is on a line of its own. */
export const linkField = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<string | undefined, Path> =>
	fieldOf('string', declaration, (value) =>
		asText(Array.isArray(value) ? value.map(asText).join('\n') : value),
	);

/** One text, or several; empty ones are left out. */
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
				.map((entry) => anyText(entry, report))
				.filter((text) => text !== undefined && text !== '');
			return texts.length > 1 ? (texts as string[]) : texts[0];
		},
	);

/** One of several texts. Without a rule, any text is handed on. */
export const choiceField = <const Path extends string = never>(
	declaration: Declaration<Path, string> & { default: string },
): Field<string | undefined, Path> =>
	fieldOf('options', declaration, (value, report) => {
		const text = textIn(value, report)?.trim();
		return text === undefined ? undefined : checked(text, declaration.rule, report);
	});

/** A number, or a text that is one. Without a rule, whatever was given is handed on. */
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

/** A number that guards something: where the option was added, it has to be one, because nothing would guard nothing. */
export const guardNumber = (declaration: Declaration<never, number>): Field<number | undefined> => {
	const { read, ...field } = requiredNumber(declaration);
	const { name } = declaration;
	return { ...field, read: (scope) => (scope.value(name) === undefined ? undefined : read(scope)) };
};

/** Milliseconds. @param unit milliseconds of what the user counts in, as `min` does */
export function durationField({
	unit,
	min,
	...texts
}: Declaration<never, number> & { unit: number; min: number }): Field<number | undefined> {
	const declaration = { ...texts, rule: { type: 'number', min } } as const;
	// A longer timer goes off at once.
	const max = Math.floor((2 ** 31 - 1) / unit);
	return fieldOf('number', withLimits(declaration), (value, report) =>
		isNothing(value)
			? undefined
			: unit * checked<number>(asNumber(value), { ...declaration.rule, max }, report),
	);
}

export const booleanField = <const Path extends string = never>(
	declaration: Declaration<Path, boolean> & { default: boolean },
): Field<boolean | undefined, Path> =>
	fieldOf('boolean', declaration, (value, report) => {
		if (isNothing(value)) return undefined;
		const known = value === 'true' || (value === 'false' ? false : value);
		return checked(known, { type: 'boolean' }, report);
	});

/** A switch that guards something: an expression that gives neither true nor false must not turn it off. */
export function guardSwitch(
	declaration: Declaration<never, boolean> & { default: boolean },
): Field<boolean> {
	const { name } = declaration;
	const { read, ...field } = fieldOf('boolean', declaration, (value, report) => {
		const known = value === 'true' || (value === 'false' ? false : value);
		return checked<boolean>(known, { type: 'boolean', required: true }, report);
	});
	return {
		...field,
		// A workflow that is older than the switch, or a node that does not show it, has no value for it.
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
		report('must be a JSON object', 'unsendable');
		return undefined;
	});

/** Any JSON, or text of it. */
export const jsonField = <const Path extends string = never>(
	declaration: Declaration<Path, string>,
): Field<unknown, Path> =>
	fieldOf('json', { rule: { type: 'json' }, ...declaration }, (value, report) => {
		if (isNothing(typeof value === 'string' ? value.trim() : value)) return undefined;
		const parsed = typeof value === 'string' ? parseJson(value) : toJson(value);
		if (parsed === undefined) report('must be JSON', 'unsendable');
		return parsed ?? value;
	});

/** The field, with its default wherever the user gave no value. */
export function withDefault<Value, Path extends string>(
	field: Field<Value | undefined, Path>,
): Field<Value, Path> {
	const standard = field.property.default as Value;
	return { ...field, read: (scope) => field.read(scope) ?? standard };
}

/** A text that must not be empty. */
export function nonEmptyText(value: unknown, report: Report): string {
	const text = anyText(value ?? '', report);
	if (text?.trim() === '') report('is empty');
	return text ?? '';
}

function textIn(value: unknown, report: Report): string | undefined {
	const text = anyText(value, report);
	return text?.trim() === '' ? undefined : text;
}

/** Undefined for nothing, and for what is no text, which is reported. */
function anyText(value: unknown, report: Report): string | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value === 'string') return value;
	if (Number.isFinite(value) || typeof value === 'boolean') return String(value);
	report(`must be a text (it is ${describeValue(value)})`, 'unsendable');
	return undefined;
}

/** Numerals are numbers; anything else is left to the rule. */
function asNumber(value: unknown): unknown {
	const isNumeral =
		typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value));
	return isNumeral ? Number(value) : value;
}

/** The value, which is of its type where no problem was reported, and where there is a rule. */
function checked<Value>(value: unknown, rule: FieldRule | undefined, report: Report): Value {
	// JSON has no such number, and would send null.
	const isLost = typeof value === 'number' && !Number.isFinite(value);
	const applied = rule ?? (isLost ? ({ type: 'number' } as const) : undefined);
	const problem = applied && fieldProblem(value, applied);
	if (problem !== undefined) report(problem, isLost ? 'unsendable' : undefined);
	return value as Value;
}

/** The limits of the rule are those of the editor. */
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
