import type { INodeProperties } from 'n8n-workflow';
import type { JsonObject } from '../../service/json';
import type { FieldRule } from '../../service/protocol/fields';
import type { Scope } from './itemParameters';

/**
 * A field, declared once: what the editor shows, how its value is read and checked, and where it goes in the request.
 * `fieldKinds.ts` creates fields; docs/fields.md is generated from them.
 */
export interface Field<Value = unknown, Path extends string = string> {
	property: INodeProperties;
	/** Dotted path in the body of the request, with `[]` for the entries of a list. Undefined: it is not sent. */
	request?: Path;
	/** The rule for all models. The rules of single models are checked when the request is complete. */
	rule?: FieldRule;
	/** Of a list: the label of an entry, before its number, and the fields of an entry. */
	entry?: { label: string; fields: readonly Field[] };
	/** Whether it only says how the request is sent or what its output looks like, and not what is ordered. */
	isSetting?: true;
	/** Whether the model of an agent fills it in, unless the user does. */
	isFilledInByModel?: true;
	/** Where it stands among the options of a node, from the top: those without a rank are first. */
	rank?: number;
	/** Reads the value. Its problems are reported under the field's label. */
	read(scope: Scope): Value;
	/** Why the operation cannot use this value, which may come from Extra Body; continues the label. */
	problemOf?(value: unknown): string | undefined;
}

/** Several fields that together give one value. */
export interface FieldGroup<Value> {
	fields: readonly Field[];
	read(scope: Scope): Value;
}

/** What a field adds to the body: `input.prompt` gives `{ input: { prompt } }`. */
type AtPath<Path extends string, Value> = Path extends `${infer Name}.${infer Rest}`
	? Member<Name, AtPath<Rest, Value>, Value>
	: Member<Path, Value, Value>;

/** Optional where the user may leave it out. */
type Member<Name extends string, Content, Value> = undefined extends Value
	? { [_ in Name]?: Content }
	: { [_ in Name]: Content };

type Addition<Of> = Of extends Field<infer Value, infer Path> ? AtPath<Path, Value> : never;

/** All members of a union at once. */
type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
	each: infer Intersection,
) => void
	? Intersection
	: never;

/** The part of a request's body that these fields make. */
export type Body<Fields extends readonly Field[]> = All<Addition<Fields[number]>>;

/**
 * Reads fields in their order into the body of the request, or into one entry of a list in it. A field that the user
 * did not set is left out.
 */
export function bodyOf<Fields extends readonly Field[]>(
	scope: Scope,
	fields: Fields,
): Body<Fields> {
	const body: JsonObject = {};
	for (const field of fields) {
		if (field.request === undefined) continue;
		const value = field.read(scope);
		const path = field.request.replace(/^.*\[\]\./, '');
		if (value !== undefined) setAt(body, path.split('.'), value);
	}
	return body as Body<Fields>;
}

function setAt(body: JsonObject, [name, ...deeper]: string[], value: unknown): void {
	if (deeper.length === 0) body[name] = value;
	else setAt((body[name] ??= {}) as JsonObject, deeper, value);
}

/** The label of a field of the request: of `input.media[0].url`, "Media 1: URL". */
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
