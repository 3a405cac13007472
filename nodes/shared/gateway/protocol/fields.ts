import { describeValue } from '../json';

/** One field of a request or a response. Limits are inclusive, in the field's own unit. */
export interface Field {
	type:
		'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'file' | 'string | array';
	required?: true;
	default?: string | number | boolean;
	min?: number;
	max?: number;
	/** The only values allowed. */
	values?: readonly string[];
	/** Values that the specification shows as examples; others may work. */
	examples?: readonly string[];
}

export type Fields = Readonly<Record<string, Field>>;

/**
 * How a value breaks the rules of its field; continues the field's name, as in "must be …". Undefined when it is
 * valid.
 */
export function fieldProblem(value: unknown, field: Field): string | undefined {
	const { type, values, min, max } = field;
	if (values !== undefined) {
		return values.includes(value as string)
			? undefined
			: `must be one of ${values.join(', ')} (it is ${describeValue(value)})`;
	}
	if (type === 'integer' || type === 'number') {
		const kind = type === 'integer' ? 'a whole number' : 'a number';
		const isKind = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
		const isWithin = (number: number) =>
			number >= (min ?? -Infinity) && number <= (max ?? Infinity);
		return isKind && isWithin(value as number)
			? undefined
			: `must be ${kind}${range(min, max)} (it is ${describeValue(value)})`;
	}
	if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'must be true or false';
	return undefined;
}

function range(min?: number, max?: number): string {
	if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
	if (min !== undefined) return ` of at least ${min}`;
	return max === undefined ? '' : ` of at most ${max}`;
}

/** Input that the service would refuse, found before anything is paid for. */
export interface Problem {
	/** The name of the field. */
	field: string;
	/** Continues the field's name: "must be …". */
	problem: string;
}
