import { Redaction } from '../../../../nodes/shared/service/client/redaction';
import { fc, tries } from '../../../support/data/fuzz';

const key = 'sk-sk-01/abc';
const redaction = new Redaction(key);
const base64 = Buffer.from(`Bearer ${key}`).toString('base64');

describe('the redaction of the API key', () => {
	it.each([
		['the key as it is', `Bad key ${key}!`, 'Bad key ***!'],
		['the key with a slash escaped in JSON', 'Bad key sk-sk-01\\/abc!', 'Bad key ***!'],
		['the key twice', key + key, '******'],
		['a part of the key, which stays', 'sk-sk-01/ab', 'sk-sk-01/ab'],
	])('redacts only the whole key in a text: %s', (_, text, expected) => {
		expect(redaction.text(text)).toBe(expected);
	});

	describe.each([key, 'sk-0123456789/abcdef+', 'Zm9v/YmFy+%22~\\x', 'sk-schlüssel-ß'])(
		'the key %s',
		(own) => {
			const mine = new Redaction(own);
			const hex = encodeURIComponent(own).toLowerCase();
			const everyByte = Buffer.from(own)
				.toString('hex')
				.replace(/../g, (byte) => `%${byte}`);
			const base64 = (text: string) => Buffer.from(text).toString('base64');
			const unicode = [...own]
				.map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
				.join('');

			const entities = (write: (code: number) => string) =>
				[...own].map((letter) => write(letter.codePointAt(0) ?? 0)).join('');

			const hexadecimal = (code: number) => code.toString(16);
			const inParts = own.replace(/[^]/gu, (letter, at) =>
				at % 2 === 0 ? letter : `&#${letter.codePointAt(0)};`,
			);

			it.each([
				['as it is', own],
				['in JSON', JSON.stringify(own).slice(1, -1)],
				['in JSON in JSON', JSON.stringify(JSON.stringify(own)).slice(3, -3)],
				['in \\u escapes of JSON', unicode],
				['in a URL', encodeURIComponent(own)],
				['in a URL, in lower case', hex],
				['in a URL, byte by byte', everyByte],
				['in a URL, byte by byte, in upper case', everyByte.toUpperCase()],
				['in a URL in a URL', encodeURIComponent(everyByte)],
				['in the name of a host', own.toLowerCase()],
				['in HTML', entities((code) => `&#${code};`)],
				['in HTML, in hexadecimal', entities((code) => `&#x${hexadecimal(code)};`)],
				['in HTML, in capitals', entities((code) => `&#X${hexadecimal(code).toUpperCase()};`)],
				['in HTML, with a zero', entities((code) => `&#0${code};`)],
				['in HTML, in parts', inParts],
			])('is redacted %s', (_, form) => {
				expect(mine.text(`see ${form}!`)).toBe('see ***!');
			});

			it.each(['\u200b', '\u2060', '\xad', '\ufe0f', '\u{e0020}', '&#8203;', '&#x200B;'])(
				'is redacted with %j between its characters, which nobody sees',
				(hidden) => {
					const letters = [...own];
					for (const form of [letters, letters.map(encodeURIComponent)]) {
						expect(mine.text(`see ${form.join(hidden)}!`)).toBe('see ***!');
					}
				},
			);

			it.each(['', 'u', 'me', 'user:', 'Bearer ', 'Authorization: Bearer '])(
				'redacts the key in the base64 of a text in which it follows "%s"',
				(before) => {
					for (const after of ['', '!', '@h', ', and more']) {
						for (const encoding of ['base64', 'base64url'] as const) {
							const encoded = Buffer.from(before + own + after).toString(encoding);
							const clean = mine.text(encoded);
							expect(clean).toContain('***');
							// The rest beside the mask decodes to less than one character of the key at each end.
							const [head, tail] = clean.split('***');
							const decoded = Buffer.from(head, encoding).toString('latin1');
							expect(decoded.length).toBeLessThanOrEqual(Buffer.byteLength(before));
							expect(tail.length).toBeLessThanOrEqual(2 + Math.ceil((after.length + 2) / 3) * 4);
						}
					}
				},
			);

			it('redacts the key in base64 in a URL', () => {
				const encoded = encodeURIComponent(base64(`Bearer ${own}`));
				expect(mine.text(encoded)).toMatch(/^QmVhcmVyI.\*\*\*.{1,2}(%3D)*$/);
			});
		},
	);

	it('redacts the key in HTML with named characters', () => {
		const mine = new Redaction(`a&b"c'd<e>f`);
		const named = 'a&amp;b&quot;c&apos;d&lt;e&gt;f';
		for (const form of [named, named.toUpperCase()]) {
			expect(mine.text(`see ${form}!`)).toBe('see ***!');
		}
		expect(redaction.text('sk&#x2d;sk&#45;01&#x2F;abc')).toBe('***');
	});

	it('redacts the key after a megabyte of text that begins like it', () => {
		const long = `${'%25sk-sk-'.repeat(100_000)}${'\\'.repeat(100_000)}`;
		expect(redaction.text(`${long}${key}`)).toBe(`${long}***`);
	});

	it('redacts a key of several thousand characters', () => {
		const long = Array.from({ length: 900 }, (_, index) => `k${index}-`).join('');
		const mine = new Redaction(long);
		expect(mine.text(`a ${long} b`)).toMatch(/^a [*]+ b$/);
		// Between two parts of the key, one character of base64 holds a few bits of each.
		const encoded = Buffer.from(`Bearer ${long}`).toString('base64');
		const left = mine.text(encoded).split('***');
		expect(Math.max(...left.slice(1).map(({ length }) => length))).toBeLessThan(4);
		expect(left[0]).toHaveLength(10);
	});

	it('redacts the key in JSON after backslashes and in \\u escapes', () => {
		const value = { a: `${'\\'.repeat(9)}${key}`, b: [{ c: '\\u0073k-sk-01/abc' }] };
		expect(redaction.json(value)).toEqual({ a: `${'\\'.repeat(9)}***`, b: [{ c: '***' }] });
	});

	it('redacts the key in the values and names of JSON, and returns other JSON as it is', () => {
		expect(redaction.json({ a: [`x${key}`], [key]: 1 })).toEqual({ a: ['x***'], '***': 1 });
		const other = { a: 'x' };
		expect(redaction.json(other)).toBe(other);
	});

	it.each([
		['sk-sk-01/ab', '***'],
		['a sk-sk-01', 'a ***'],
		['a sk-sk-0', 'a sk-sk-0'],
		['a &#115;k-s', 'a ***'],
		['a sk&#x2d;sk&#0', 'a ***'],
		['a sk-\u200bsk-0\u200b', 'a ***'],
	])('redacts the key when a text breaks off within it: %s', (text, expected) => {
		expect(redaction.truncated(text)).toBe(expected);
	});

	it('does not redact a key that is a short word of ordinary texts', () => {
		expect(new Redaction('demo').text('a demo')).toBe('a demo');
	});

	it('redacts the key in a text that arrives in chunks, and loses nothing else', () => {
		const parts = fc.constantFrom(
			key,
			'sk-',
			'sk-01/',
			'abc',
			' ',
			'\\/',
			key.slice(0, -1),
			'%',
			'%25',
			'73',
			'%2F',
			'&#115;',
			'&#x6B',
			'&#0',
			'&',
			';',
			'&#x2d;',
			'&#47',
			'01&#47;',
			'sk&#45;',
			encodeURIComponent(key),
			'\\u0073',
			'\\',
			base64.slice(0, 5),
			base64.slice(5),
			base64,
			'\u200b',
			`${key.slice(0, 5)}\u200b`,
		);
		const texts = fc.array(parts, { maxLength: 8 }).map((all) => all.join(''));
		const property = fc.property(texts, fc.array(fc.nat(9), { maxLength: 20 }), (text, sizes) => {
			const stream = redaction.stream();
			let given = '';
			let rest = text;
			for (const size of sizes) {
				given += stream.push(rest.slice(0, size));
				rest = rest.slice(size);
				expect(given).not.toContain(key);
			}
			given += stream.push(rest);
			expect(given + stream.end()).toBe(redaction.truncated(text));
		});
		fc.assert(property, tries(1000));
	});
});
