import { describeValue } from '../json';

/** One field of a request or a response. Limits are inclusive, in the field's own unit. */
export interface FieldRule {
	type:
		| 'string'
		| 'integer'
		| 'number'
		| 'boolean'
		| 'array'
		| 'object'
		| 'file'
		| 'string | array'
		| 'json';
	required?: true;
	default?: string | number | boolean;
	min?: number;
	max?: number;
	/** The only values allowed. */
	values?: readonly string[];
	/** Examples of the specification; other values may work. */
	examples?: readonly string[];
}

export type Fields = Readonly<Record<string, FieldRule>>;

/** How a value breaks the rules of its field; continues the field's name, as in "must be …". */
export function fieldProblem(value: unknown, field: FieldRule): string | undefined {
	const expected = describeRule(field);
	if (expected === undefined || fits(value, field)) return undefined;
	return `must be ${expected} (it is ${describeValue(value)})`;
}

/** In words, as in "a whole number from 2 to 15"; undefined when nothing restricts the value. */
export function describeRule({ type, values, min, max }: FieldRule): string | undefined {
	if (values !== undefined) return `one of ${values.join(', ')}`;
	if (type === 'integer') return `a whole number${range(min, max)}`;
	if (type === 'number') return `a number${range(min, max)}`;
	return type === 'boolean' ? 'true or false' : undefined;
}

function fits(
	value: unknown,
	{ type, values, min = -Infinity, max = Infinity }: FieldRule,
): boolean {
	if (values !== undefined) return values.includes(value as string);
	if (type === 'boolean') return typeof value === 'boolean';
	const isKind = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
	return isKind && Number(value) >= min && Number(value) <= max;
}

function range(min?: number, max?: number): string {
	if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
	if (min !== undefined) return ` of at least ${min}`;
	return max === undefined ? '' : ` of at most ${max}`;
}
