import { jsonTextOf } from '../../../nodes/shared/gateway/json';

describe('JSON text', () => {
	it.each([
		['Cut \ud83d', 'Cut \ufffd'],
		['\ude00 begins', '\ufffd begins'],
		['\ud83d\ud83d\ude00\ude00', '\ufffd\ud83d\ude00\ufffd'],
		['A whole 😀, a "quote" and a \\ufo', 'A whole 😀, a "quote" and a \\ufo'],
		['An escape as text: \\ud83d', 'An escape as text: \\ud83d'],
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
