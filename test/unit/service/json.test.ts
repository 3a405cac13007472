import { jsonTextOf, parseJson, parseResponse } from '../../../nodes/shared/service/json';

describe('JSON of a response', () => {
	it('is not parsed when it is beyond the bounds', () => {
		expect(parseJson(`[${'[],'.repeat(10_000)}0]`)).toHaveLength(10_001);
		expect(parseJson(`[${'[],'.repeat(200_000)}0]`)).toBeUndefined();
		expect(parseJson(` \n${'['.repeat(100)}${']'.repeat(100)}`)).toBeDefined();
		expect(parseJson(` \n${'['.repeat(101)}${']'.repeat(101)}`)).toBeUndefined();
	});

	it.each<[what: string, json: string, value: unknown]>([
		['a long ID', '{"id":12345678901234567890}', { id: '12345678901234567890' }],
		['the largest number that is kept', '[9007199254740991]', [9007199254740991]],
		[
			'one behind texts',
			'["\\\\",":1234567890123456\\"",12345678901234567]',
			['\\', ':1234567890123456"', '12345678901234567'],
		],
		[
			'one between fractions',
			'[0.12345678901234567,12345678901234567,1.5]',
			[0.12345678901234567, '12345678901234567', 1.5],
		],
		['a fraction', '{"a":12345678901234567.5}', { a: 12345678901234567.5 }],
		[
			'many digits of an exponent',
			'{"a":1234567890123456,"b":1e-00000000000000000001}',
			{ a: 1234567890123456, b: 0.1 },
		],
	])('keeps all digits of an ID: %s', (_, json, value) =>
		expect(parseResponse(json)).toEqual(value),
	);

	it.each<[what: string, json: string, value: unknown]>([
		[
			'numbers that JSON lacks',
			'{"a":NaN,"b":[-Infinity],"c":"NaN"}',
			{ a: null, b: [null], c: 'NaN' },
		],
		[
			'words of Python',
			'{"None":None,"a":[True,False,"True"]}',
			{ None: null, a: [true, false, 'True'] },
		],
		['commas behind the last entry', '{"a":[1,2, ],"b":",]",}\n', { a: [1, 2], b: ',]' }],
		['line breaks in texts', '{"a":"one\ntwo\\n\t\\"three"}', { a: 'one\ntwo\n\t"three' }],
		[
			'a long ID beside them',
			'{"id":12345678901234567890,"a":NaN}',
			{ id: '12345678901234567890', a: null },
		],
		['no text that broke off', '{"a":"one,', undefined],
		['behind spaces', ' \n{"a":None}', { a: null }],
		['no text that is none', 'Not {"a":1}', undefined],
		['no word alone', 'None', undefined],
		['no text in quotation marks', '"one\n["', undefined],
	])('is read although a server wrote it by mistake: %s', (_, json, value) =>
		expect(parseResponse(json)).toEqual(value),
	);

	it('leaves very long numbers, and the numbers of a large response, as they are', () => {
		expect(parseResponse(`[${'1'.repeat(10_000_000)}]`)).toEqual([Infinity]);
		expect(parseResponse(`[${'1'.repeat(900_000)}]`)).toEqual([Infinity]);
		expect(parseResponse(`[${'12345678901234567,'.repeat(60_000)}0]`)).toContain(12345678901234567);
	});
});

describe('JSON text', () => {
	it.each([
		['Cut \ud83d', 'Cut \ufffd'],
		['\ud83d\ud83d\ude00\ude00', '\ufffd\ud83d\ude00\ufffd'],
		['A whole 😀, a "quote" and a \\ufo', 'A whole 😀, a "quote" and a \\ufo'],
		['\\\ud83d', '\\\ufffd'],
	])('has U+FFFD in place of half a character: %j', (text, sent) => {
		expect(JSON.parse(jsonTextOf({ [text]: [text] }))).toEqual({ [sent]: [sent] });
	});

	it('is that of JSON.stringify for all other values, and empty for what JSON does not have', () => {
		const value = { a: [1, null, undefined, 'ü\u0000'], b: { c: undefined } };
		expect(jsonTextOf(value)).toBe(JSON.stringify(value));
		expect(jsonTextOf(undefined)).toBe('');
	});
});
