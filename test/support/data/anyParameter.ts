import fc from 'fast-check';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';
import { anyJson, jsonText } from './anyJson';

/** The place of a parameter: the names that lead to it, and the choices that show it. */
export interface Place {
	path: string[];
	/** Its label in the editor. */
	field: string;
	isLocator: boolean;
	chosen: Array<{ path: string[]; value: unknown }>;
}

/** Every parameter that may hold an expression, also inside collections. */
export function placesOf(properties: INodeProperties[], under: string[] = []): Place[] {
	return properties.flatMap((property): Place[] => {
		const { name, displayName, type, noDataExpression, displayOptions } = property;
		const path = [...under, name];
		if (type === 'notice') return [];
		if (type === 'collection') return placesOf(property.options as INodeProperties[], path);
		if (type === 'fixedCollection') {
			const groups = property.options as Array<{ name: string; values: INodeProperties[] }>;
			return groups.flatMap((group) => placesOf(group.values, [...path, group.name, '0']));
		}
		if (noDataExpression) return [];
		const chosen = Object.entries(displayOptions?.show ?? {}).map(([other, values]) => ({
			path: [...under, other],
			value: values?.[0],
		}));
		return [{ path, field: displayName, isLocator: type === 'resourceLocator', chosen }];
	});
}

/** A copy of the parameters with this one set. */
export function withValue(
	parameters: INodeParameters,
	[name, ...deeper]: string[],
	value: unknown,
): INodeParameters {
	const isList = deeper[0] === '0';
	const old = parameters[name] as INodeParameters | INodeParameters[] | undefined;
	const inner = isList ? (old as INodeParameters[] | undefined)?.[0] : (old as INodeParameters);
	const rest = isList ? deeper.slice(1) : deeper;
	const set = deeper.length === 0 ? value : withValue(inner ?? {}, rest, value);
	return { ...parameters, [name]: (isList ? [set] : set) as INodeParameters[string] };
}

/** Values that only an expression yields. A list that contains itself is missing: n8n overflows on it. */
const oddities = [
	'$("Nobody").item.json.x',
	'$json.values.nothing.at.all()',
	'NaN',
	'undefined',
	'null',
	'Infinity',
	'-Infinity',
	'[NaN]',
	'[undefined]',
	'[[1], 2]',
	'10n',
	'({ a: NaN })',
	'({ a: { b: [undefined] } })',
	'({ a: new Date("x") })',
	'({ a: 10n })',
	'Array(1000).fill("x")',
	'Array(1000)',
	'({ toString: 1, valueOf: 2 })',
	'Object.create(null)',
	'[Object.create(null)]',
	'[null]',
	'new Date("x")',
	'new Date(0)',
	'$now',
	'DateTime.fromISO("x")',
	'new Map([[1, 2]])',
	'/x/',
	'$json',
	'$input',
	'$json.no.such.field',
	'Math.max',
	'Symbol("x")',
	'"x".repeat(100000)',
	'"\\ud800"',
	'"\\u0000"',
	'"a\\r\\nb: c"',
	'1e308',
	'-1',
	'0',
	'2 ** 53',
	'1e13',
	'0.1',
	'""',
	'"  "',
	'"1e400"',
	'"0x10"',
	'true',
	'"maybe"',
	'[]',
	'({})',
	'"resend"',
	'"url"',
	'"binary"',
	'"__proto__"',
	'"constructor"',
	'"data"',
	'"https://a.example/x.png"',
	'"data:image/png;base64,"',
];

/** Whether it is nested too deeply for n8n itself, or needlessly long. */
const isMoreThanEnough = (value: unknown) => jsonText(value).length > 15_000;

interface AnyValue {
	/** An expression, which may read `$json.value`. */
	parameter: string;
	value: unknown;
	/** Whether a null in the request can be the user's own. */
	mayBeNull: boolean;
}

const texts = fc.oneof(
	{ weight: 5, arbitrary: anyJson.filter((json) => !isMoreThanEnough(json)).map(jsonText) },
	fc.constant('['.repeat(5000) + ']'.repeat(5000)),
);

export const anyValue: fc.Arbitrary<AnyValue> = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.constantFrom(...oddities).map((code) => ({
			parameter: `={{ ${code} }}`,
			value: null,
			mayBeNull: /null|\$/.test(code),
		})),
	},
	{
		weight: 2,
		arbitrary: anyJson
			.filter((json) => !isMoreThanEnough(json))
			.map((json) => ({
				parameter: '={{ $json.value }}',
				value: JSON.parse(jsonText(json)) as unknown,
				mayBeNull: true,
			})),
	},
	{
		weight: 1,
		arbitrary: texts.map((value) => ({
			parameter: '={{ $json.value }}',
			value,
			mayBeNull: true,
		})),
	},
);

/** The parameters that a node shows for this resource and operation, without these two menus. */
export function propertiesOf(all: INodeProperties[], menus: INodeParameters): INodeProperties[] {
	return all.filter(({ displayOptions, name }) =>
		['resource', 'operation'].every((menu) => {
			const shown = displayOptions?.show?.[menu];
			return name !== menu && (shown === undefined || shown.includes(menus[menu] as string));
		}),
	);
}
