import type { INodeProperties, NodePropertyTypes } from 'n8n-workflow';
import { withoutUndefined, type JsonObject } from '../../service/json';
import type { FieldRule } from '../../service/protocol/fields';
import { reportParts } from './expressionParts';
import type { ProblemKind, Scope } from './itemParameters';

/**
 * A field, declared once: what the editor shows, how its value is read and checked, and where it goes in the request.
 * `fieldKinds.ts` creates fields; docs/fields.md is generated from them.
 */
export interface Field<Value = unknown> extends FieldFacts {
	property: INodeProperties;
	/** Reads the value, and reports its problems under the field's label. */
	read(scope: Scope): Value;
}

/** The part of a declaration that the editor does not show. */
interface FieldFacts {
	/** Dotted path in the body of the request, with `[]` for the entries of a list. Undefined: it is not sent. */
	request?: string;
	/** The rule for all models. The rules of single models are checked when the request is complete. */
	rule?: FieldRule;
	/** For a duration, which reads as milliseconds: how many of them are in the unit that the user enters. */
	unit?: number;
	/** For a list: the label of an entry, before its number, and its fields. */
	entry?: { label: string; fields: readonly Field[] };
	/** Whether it says only how the request is sent or what the output looks like, not what is ordered. */
	isSetting?: true;
	/** Whether the model of an agent fills it in, unless the user does. */
	isFilledInByModel?: true;
	/** Its place among the options of a node: those without a rank come first. */
	rank?: number;
	/** The problem of a value that may come from Extra Body; continues the label. */
	problemOf?(value: unknown): string | undefined;
}

/** Several fields that together give one value. */
export interface FieldGroup<Value> {
	fields: readonly Field[];
	read(scope: Scope): Value;
}

export type Declaration = Omit<INodeProperties, 'type' | 'default'> &
	FieldFacts & { default?: INodeProperties['default'] };

/** Reports a problem under the field's label. */
export type Report = (problem: string, kind?: ProblemKind) => void;

/** @param parse reads the value, which can be anything when an expression gives it */
export function fieldOf<Value>(
	type: NodePropertyTypes,
	declaration: Declaration,
	parse: (value: unknown, report: Report, scope: Scope) => Value,
): Field<Value> {
	const { request, rule, unit, entry, isSetting, isFilledInByModel, rank, problemOf, ...shown } =
		declaration;
	const facts = { request, rule, unit, entry, isSetting, isFilledInByModel, rank, problemOf };
	const { name, displayName } = shown;
	// The rule of a field that is not sent is the node's own, which Skip Checks must not skip.
	const kindOf = request === undefined ? 'unsendable' : 'rule';
	const own = type === 'number' ? withLimits(shown, rule) : shown;
	return {
		...facts,
		property: { default: '', ...own, type },
		read(scope) {
			const report: Report = (problem, kind = kindOf) => scope.report(displayName, problem, kind);
			const value = scope.value(name);
			if (!isSetting) reportParts(scope.written(name), scope.parameters, report);
			return parse(value, report, scope);
		},
	};
}

/** With the limits of the rule, for the editor. */
function withLimits(
	shown: Omit<INodeProperties, 'type' | 'default'>,
	{ min, max, default: standard = 0 }: Partial<FieldRule> = {},
) {
	const typeOptions = withoutUndefined({ minValue: min, maxValue: max, ...shown.typeOptions });
	const isLimited = Object.keys(typeOptions).length > 0;
	return { default: Number(standard), ...shown, ...(isLimited && { typeOptions }) };
}

/** Reads the fields that the user set, in their order, into the body of the request or an entry of a list in it. */
export function bodyOf(scope: Scope, fields: readonly Field[]): JsonObject {
	const body: JsonObject = {};
	for (const field of fields) {
		if (field.request === undefined) continue;
		const value = field.read(scope);
		const path = field.request.replace(/^.*\[\]\./, '');
		if (value !== undefined) setAt(body, path.split('.'), value);
	}
	return body;
}

function setAt(body: JsonObject, [name, ...deeper]: string[], value: unknown): void {
	if (deeper.length === 0) body[name] = value;
	else setAt((body[name] ??= {}) as JsonObject, deeper, value);
}

/** The label at a path of the request: of `input.media[0].url`, "Media 1: URL". */
export function labelOf(path: string, fields: readonly Field[]): string {
	const [, list, index] = /^(.*?)\[(\d+)\]/.exec(path) ?? [];
	const whole = path.replaceAll(/\[\d+\]/g, '[]');
	for (const { property, request, entry } of fields) {
		if (request === whole) return property.displayName;
		if (entry && request === list) {
			return `${entry.label} ${Number(index) + 1}: ${labelOf(whole, entry.fields)}`;
		}
	}
	return path;
}
