import Ajv from 'ajv';
import type { AxiosResponse } from 'axios';
import { refusalOf, served } from '../served';

const at = served();
const messages = [{ role: 'user', content: 'A boat' }];
const chat = async (more: object): Promise<AxiosResponse> =>
	await at.client.post('/v1/chat/completions', { model: 'chat-1', messages, ...more });
const formatOf = (schema: unknown) => ({
	response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
});
const answerTo = async (more: object): Promise<string> =>
	(await chat(more)).data.choices[0].message.content;

/** Another validator than that of the gateway. It does not know the format `duration`. */
const ajv = new Ajv({ unknownFormats: ['duration'], extendRefs: true });

const object = (properties: object, more: object = {}) => ({
	...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
	...more,
});
const text = { type: 'string' };
const node = { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] };

/** A schema, and the answer to "A boat". */
const rows: Array<[string, object, unknown]> = [
	[
		'properties of all types',
		object({ a: text, b: { type: 'integer' }, c: { type: 'number' }, d: { type: 'boolean' } }),
		{ a: 'A boat', b: 1, c: 1, d: true },
	],
	['null', object({ a: { type: 'null' } }), { a: null }],
	[
		'optional properties',
		object({ a: text, b: text }, { required: ['b'] }),
		{ a: 'A boat', b: 'A boat' },
	],
	[
		'required properties without a schema of their own',
		{ type: 'object', required: ['a'], additionalProperties: { type: 'integer' } },
		{ a: 1 },
	],
	[
		'nested objects',
		object({ a: object({ b: object({ c: text }) }) }),
		{ a: { b: { c: 'A boat' } } },
	],
	['enum and const', object({ a: { enum: ['x', 'y'] }, b: { const: 7 } }), { a: 'x', b: 7 }],
	['a list', { type: 'array', items: text }, ['A boat']],
	['minItems', { type: 'array', items: text, minItems: 2 }, ['A boat', 'A boat']],
	['maxItems', { type: 'array', items: text, maxItems: 0 }, []],
	['a tuple', { type: 'array', items: [text, { type: 'integer' }], minItems: 2 }, ['A boat', 1]],
	['prefixItems', { type: 'array', prefixItems: [{ const: 'x' }], items: text }, ['x']],
	['anyOf', object({ a: { anyOf: [{ type: 'integer' }, text] } }), { a: 1 }],
	[
		'oneOf',
		object({ a: { oneOf: [object({ b: text }), { type: 'null' }] } }),
		{ a: { b: 'A boat' } },
	],
	[
		'oneOf beside other keywords',
		{
			...object({ a: text }, { additionalProperties: true }),
			oneOf: [{ required: ['b'] }, { required: ['c'] }],
		},
		{ a: 'A boat', b: 'A boat' },
	],
	[
		'allOf',
		{
			allOf: [{ $ref: '#/$defs/one' }, object({ b: text }, { additionalProperties: true })],
			$defs: { one: { type: 'object', properties: { a: text } } },
		},
		{ a: 'A boat', b: 'A boat' },
	],
	['a nullable type', object({ a: { type: ['null', 'integer'] } }), { a: 1 }],
	[
		'a reference',
		object({ a: { $ref: '#/$defs/x~1y' } }, { $defs: { 'x/y': text } }),
		{ a: 'A boat' },
	],
	[
		'a reference beside other keywords',
		object({ a: { $ref: '#/definitions/x', maxLength: 1 } }, { definitions: { x: text } }),
		{ a: 'A' },
	],
	[
		'a recursive object',
		{ $ref: '#/$defs/node', $defs: { node: object({ next: node }) } },
		{ next: null },
	],
	[
		'a recursive list',
		object({ children: { type: 'array', items: { $ref: '#' } } }),
		{ children: [] },
	],
	[
		'a recursive property that is optional',
		object({ name: text, child: { $ref: '#' } }, { required: ['name'] }),
		{ name: 'A boat' },
	],
	[
		'the length of a text',
		object({ a: { ...text, minLength: 8 }, b: { ...text, maxLength: 3 } }),
		{ a: 'A boat..', b: 'A b' },
	],
	[
		'the range of a number',
		object({
			a: { type: 'integer', minimum: 5 },
			b: { type: 'integer', exclusiveMaximum: -3 },
			c: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
			d: { type: 'number', minimum: 7, multipleOf: 5 },
			e: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
		}),
		{ a: 5, b: -4, c: 0.5, d: 10, e: 1 },
	],
	[
		'a schema without a type',
		object({ a: {}, b: { properties: { c: text } }, d: { items: text } }),
		{ a: 'A boat', b: { c: 'A boat' }, d: ['A boat'] },
	],
];

describe('response_format', () => {
	it.each(rows)('answers with JSON for a schema with %s', async (_, schema, expected) => {
		const answer = JSON.parse(await answerTo(formatOf(schema)));
		expect(answer).toEqual(expected);
		expect(ajv.validate(schema, answer)).toBe(true);
	});

	it.each([
		...['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri'],
		...['uri-reference', 'uuid'],
	])('answers with a text in the format %s', async (format) => {
		const schema = object({ a: { ...text, format } });
		const answer = JSON.parse(await answerTo(formatOf(schema)));
		expect(ajv.validate(schema, answer)).toBe(true);
	});

	it.each<[object, unknown]>([
		[{ response_format: { type: 'json_object' } }, expect.objectContaining({ summary: 'A boat' })],
		[formatOf(object({ a: text })), { a: 'A boat' }],
	])('answers with JSON also after the results of tools: %j', async (format, expected) => {
		const ended = [...messages, { role: 'tool', content: '5 m' }];
		expect(JSON.parse(await answerTo({ messages: ended, ...format }))).toEqual(expected);
	});

	const missing = 'needs an object as json_schema.schema';
	const impossible = 'needs a schema for which a value can be made: ';
	it.each<[unknown, string]>([
		...([undefined, 'string', []].map((schema) => [schema, missing]) as Array<[unknown, string]>),
		[
			object({ a: { type: 'integer', minimum: 5, maximum: 4 } }),
			`${impossible}1 is less than 5. (at #/a)`,
		],
		[{ enum: [1], type: 'string' }, `${impossible}Instance type "number" is invalid.`],
		[
			object({ a: { ...text, pattern: '^x$' } }),
			`${impossible}String does not match pattern. (at #/a)`,
		],
		[object({ a: false }), `${impossible}no finite value satisfies it`],
		[object({ a: { $ref: '#' } }), `${impossible}no finite value satisfies it`],
		[object({ a: { $ref: '#/$defs/b' } }), `${impossible}Unresolved $ref "#/$defs/b".`],
		[{ anyOf: 5 }, impossible],
	])('refuses the schema %j with 400, and charges nothing: %s', async (schema, problem) => {
		const charges = at.gateway.ledger.length;
		const response = await chat(formatOf(schema));
		expect(refusalOf(response)).toEqual([400, 'invalid_parameter', 'response_format']);
		expect(response.data.error.message).toContain(`response_format ${problem}`);
		expect(at.gateway.ledger).toHaveLength(charges);
	});
});
