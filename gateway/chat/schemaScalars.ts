import type { JsonObject } from '../../nodes/shared/service/json';

/** The keywords of a schema that are numbers. */
export type Limits = Record<string, number | undefined>;

/** The first of some likely numbers that is within the limits. */
export function numberFor(schema: JsonObject): number {
	const { type } = schema;
	const {
		minimum = -Infinity,
		maximum = Infinity,
		exclusiveMinimum = -Infinity,
		exclusiveMaximum = Infinity,
		multipleOf = type === 'integer' ? 1 : undefined,
	} = schema as Limits;
	const low = Math.max(minimum, exclusiveMinimum);
	const high = Math.min(maximum, exclusiveMaximum);
	const likely = [1, low, low + 1, high, high - 1, (low + high) / 2];
	const numbers = likely.flatMap((number) =>
		multipleOf === undefined
			? number
			: [Math.ceil, Math.floor].map((round) => round(number / multipleOf) * multipleOf),
	);
	const isWithin = (number: number) =>
		number >= minimum &&
		number <= maximum &&
		number > exclusiveMinimum &&
		number < exclusiveMaximum;
	return numbers.find(isWithin) ?? 1;
}

/** A text for each format that the validator checks and that clients use. */
const formats: Record<string, string> = {
	'date-time': '2026-01-31T09:30:00Z',
	date: '2026-01-31',
	time: '09:30:00Z',
	duration: 'PT1H',
	email: 'ada@example.com',
	hostname: 'example.com',
	ipv4: '192.0.2.1',
	ipv6: '2001:db8::1',
	uri: 'https://example.com/',
	'uri-reference': '/',
	uuid: '6f1c7c1e-3c1b-4f0e-9d6a-2b7f0e5a9c11',
};

/** The sample of its format, or the given text, with a length within the limits. */
export function textFor(schema: JsonObject, text: string): string {
	const { minLength = 0, maxLength = Infinity } = schema as Limits;
	const characters = [...(formats[String(schema.format)] ?? text)].slice(0, maxLength);
	return characters.join('') + '.'.repeat(Math.max(0, minLength - characters.length));
}
