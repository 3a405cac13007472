import fc from 'fast-check';

/** A depth of nesting that JSON.parse accepts and a careless recursion does not. */
const levels = 10_000;

/** JSON that JSON.stringify cannot write, by the text that stands for it. */
const spellings = new Map([
	['@infinity', '1e999'],
	['@lists', '['.repeat(levels) + ']'.repeat(levels)],
	['@errors', '{"error":'.repeat(levels) + '1' + '}'.repeat(levels)],
	['@functions', '{"function_call":'.repeat(levels) + '1' + '}'.repeat(levels)],
]);

/** The text of a JSON value of {@link anyJson}. */
export function jsonText(value: unknown): string {
	return JSON.stringify(value).replace(
		/"(@[a-z]+)"/g,
		(text, name: string) => spellings.get(name) ?? text,
	);
}

const oddTexts = [
	'',
	' ',
	'\n',
	'\0',
	'\ud800',
	'\u2028',
	'🎬',
	'..',
	'../x',
	'?',
	'a/b',
	'%2e%2e%2f',
	'NaN',
	'Infinity',
	'-Infinity',
	'1e999',
	'-1',
	'030',
	'30 %',
	'null',
	'true',
	'[]',
	'{}',
	'__proto__',
	'constructor',
	'toString',
	'completed',
	'FAILED',
	'in_progress',
	'[DONE]',
	'https://a.example/v.mp4?x=%2f',
	'http://',
	'https://[',
	'//a.example/v',
	'/v',
	'ftp://a/b',
	'javascript:alert(1)',
	'file:///etc/passwd',
	'data:image/png;base64,',
	'data:,',
	'data:image/png;base64,iVBORw0KGgo=',
	'![a](https://a.example/a.png)',
	'![](<>)',
	'![](',
	'2026-13-45T99:99:99Z',
	'AACAPwAAAEA=',
	'x'.repeat(50_000),
	' \t'.repeat(5_000),
];

export const anyText: fc.Arbitrary<string> = fc.oneof(
	fc.constantFrom(...oddTexts),
	fc.string({ unit: 'binary', maxLength: 20 }),
);

const names = fc.oneof(
	fc.constantFrom(
		'__proto__',
		'constructor',
		'prototype',
		'toString',
		'valueOf',
		'toJSON',
		'then',
		'length',
		'id',
		'url',
		'data',
		'error',
		'status',
		'message',
		'code',
		'output',
		'choices',
		'content',
		'text',
		'index',
		'delta',
		'tool_calls',
		'function_call',
		'image_url',
		'b64_json',
		'link',
	),
	fc.string({ unit: 'binary', maxLength: 6 }),
);

const leaf: fc.Arbitrary<unknown> = fc.oneof(
	anyText,
	fc.constantFrom(null, true, false, 0, -0, -1, 0.5, 1e21, 2 ** 53, -(2 ** 31), 5e-324),
	fc.double({ noNaN: true, noDefaultInfinity: true }),
	fc.integer(),
	fc.constantFrom(...spellings.keys()),
);

/** Any JSON, with names and values that may trip a reader. {@link jsonText} writes it. */
export const anyJson: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
	value: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		leaf,
		fc.array(tie('value'), { maxLength: 4 }),
		// fromEntries makes a field even of __proto__, as JSON.parse does.
		fc.array(fc.tuple(names, tie('value')), { maxLength: 5 }).map(Object.fromEntries),
	),
})).value;

/** Replaces one entry of an object or a list with any number of entries. */
type Change = (name: string, value: unknown) => Array<[name: string, value: unknown]>;

const isSmall = (value: unknown) => jsonText(value).length < 200;

const change: fc.Arbitrary<Change> = fc.oneof(
	{ weight: 2, arbitrary: leaf.map((other): Change => (name) => [[name, other]]) },
	anyJson.map((other): Change => (name) => [[name, other]]),
	names.map((other): Change => (_, value) => [[other, value]]),
	fc.constantFrom<Change[]>(
		() => [],
		(name, value) => [[name, isSmall(value) ? Array<unknown>(1000).fill(value) : []]],
		(name, value) => Array(isSmall(value) ? 1000 : 2).fill([name, value]),
		(name, value) => [
			[name, typeof value === 'string' ? Number(value) || 7 : JSON.stringify(value)],
		],
		(name, value) => [[name, [value]]],
		(name, value) => [[name, { data: value }]],
	),
);

/** A valid response of which some parts are replaced, missing, or repeated many times. */
export function nearly(answer: object): fc.Arbitrary<unknown> {
	const changes = fc.array(fc.tuple(fc.nat(), change), { minLength: 1, maxLength: 3 });
	return changes.map((all) =>
		all.reduce<unknown>((value, [place, apply]) => {
			const count = countEntries(value);
			return count === 0 ? value : changed(value, { left: place % count }, apply);
		}, answer),
	);
}

const isParent = (value: unknown): value is object => typeof value === 'object' && value !== null;

function countEntries(value: unknown): number {
	if (!isParent(value)) return 0;
	return Object.values(value).reduce<number>((sum, entry) => sum + 1 + countEntries(entry), 0);
}

/** A copy in which one entry is changed: the one that comes after `place.left` others. */
function changed(value: unknown, place: { left: number }, apply: Change): unknown {
	if (!isParent(value)) return value;
	const entries = Object.entries(value).flatMap(([name, entry]) =>
		place.left-- === 0 ? apply(name, entry) : [[name, changed(entry, place, apply)] as const],
	);
	return Array.isArray(value) ? entries.map(([, entry]) => entry) : Object.fromEntries(entries);
}
