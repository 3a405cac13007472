import type { Field } from '../../nodes/shared/gateway/protocol';
import { invalidParameter } from './errors';

// Readers of one value of a request: give the value or its default, or throw the 400 that names it.

export function readObject(value: unknown, param: string): Record<string, unknown> {
	if (value === undefined) return {};
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw invalidParameter(param, 'an object');
	}
	return value as Record<string, unknown>;
}

export function readText(field: Field, value: unknown, param: string): string | undefined {
	if (value === undefined) return field.default as string | undefined;
	if (typeof value !== 'string') throw invalidParameter(param, 'a text');
	if (field.values && !field.values.includes(value)) {
		throw invalidParameter(param, `one of ${field.values.join(', ')}`);
	}
	return value;
}

export function readInteger(field: Field, value: unknown, param: string): number | undefined {
	if (value === undefined) return field.default as number | undefined;
	const { min = -Infinity, max = Infinity } = field;
	if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
		throw invalidParameter(param, `a whole number from ${min} to ${max}`);
	}
	return Number(value);
}

export function readBoolean(field: Field, value: unknown, param: string): boolean | undefined {
	if (value === undefined) return field.default as boolean | undefined;
	if (typeof value !== 'boolean') throw invalidParameter(param, 'true or false');
	return value;
}
