import { fieldProblem, type FieldRule, type Fields } from '../nodes/shared/service/protocol/fields';
import { invalidParameter, parameterError } from './errors';

// Readers of the fields of a request. Each returns the value or its default, or throws a 400 that names the field.

/** The value of a field after it was read. Each endpoint reads its own arrays, objects and files. */
type Value<Of extends FieldRule> = Of extends { values: ReadonlyArray<infer Allowed> }
	? Allowed
	: Of extends { type: 'string' }
		? string
		: Of extends { type: 'integer' | 'number' }
			? number
			: Of extends { type: 'boolean' }
				? boolean
				: unknown;

/** Without a default, a field that is not required may be missing. */
type Missing<Of extends FieldRule> = Of extends { required: true } | { default: unknown }
	? never
	: undefined;

type Values<Table extends Fields> = {
	[Name in keyof Table]: Value<Table[Name]> | Missing<Table[Name]>;
};

/** Checks a body against the table of its endpoint. Null means "not set", as many clients send it. */
export function readFields<Table extends Fields>(table: Table, body: unknown): Values<Table> {
	const given = readObject(body, 'body');
	const values = Object.entries(table).map(([name, field]) => [
		name,
		readField(field, given[name] ?? undefined, name),
	]);
	return Object.fromEntries(values) as Values<Table>;
}

function readField(field: FieldRule, value: unknown, param: string): unknown {
	if (field.required && value === undefined) throw invalidParameter(param, 'given');
	switch (field.type) {
		case 'string':
			return readText(field, value, param);
		case 'integer':
		case 'number':
			return readNumber(field, value, param);
		case 'boolean':
			return readBoolean(field, value, param);
		default:
			return value;
	}
}

export function readObject(value: unknown, param: string): Record<string, unknown> {
	if (value === undefined) return {};
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw invalidParameter(param, 'an object');
	}
	return value as Record<string, unknown>;
}

export function readText(field: FieldRule, value: unknown, param: string): string | undefined {
	if (value === undefined) return field.default as string | undefined;
	if (typeof value !== 'string') throw invalidParameter(param, 'a text');
	requireValid(field, value, param);
	return value;
}

export function readNumber(field: FieldRule, value: unknown, param: string): number | undefined {
	if (value === undefined) return field.default as number | undefined;
	requireValid(field, value, param);
	return Number(value);
}

export function readBoolean(field: FieldRule, value: unknown, param: string): boolean | undefined {
	if (value === undefined) return field.default as boolean | undefined;
	requireValid(field, value, param);
	return Boolean(value);
}

/** Throws a 400 that says what the field must be, in the words of the nodes. */
function requireValid(field: FieldRule, value: unknown, param: string): void {
	const problem = fieldProblem(value, field);
	if (problem !== undefined) throw parameterError(param, problem);
}

/** The service accepts https links only. This gateway also accepts http links to loopback, which has no https. */
const loopback = ['127.0.0.1', 'localhost', '[::1]'];

export function readLink(value: unknown, param: string): string {
	if (typeof value === 'string' && URL.canParse(value)) {
		const { protocol, hostname } = new URL(value);
		if (protocol === 'https:' || (protocol === 'http:' && loopback.includes(hostname)))
			return value;
	}
	throw invalidParameter(param, 'a public https link');
}
