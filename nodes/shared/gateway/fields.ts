import { shownAs } from './json';
import type { Field } from './protocol';

/**
 * What is wrong with a value by the rules of its field; continues the field's name, as in "must be …".
 * Undefined when nothing is.
 */
export function fieldProblem(value: unknown, field: Field): string | undefined {
	const { type, values, min, max } = field;
	if (values !== undefined) {
		return values.includes(value as string)
			? undefined
			: `must be one of ${values.join(', ')} (it is ${shownAs(value)})`;
	}
	if (type === 'integer' || type === 'number') {
		const kind = type === 'integer' ? 'a whole number' : 'a number';
		const isKind = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
		const isWithin = (number: number) =>
			number >= (min ?? -Infinity) && number <= (max ?? Infinity);
		return isKind && isWithin(value as number)
			? undefined
			: `must be ${kind}${range(min, max)} (it is ${shownAs(value)})`;
	}
	if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'must be true or false';
	return undefined;
}

function range(min?: number, max?: number): string {
	if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
	if (min !== undefined) return ` of at least ${min}`;
	return max === undefined ? '' : ` of at most ${max}`;
}
