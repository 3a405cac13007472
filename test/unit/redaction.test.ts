import { Redaction } from '../../nodes/shared/gateway/client/redaction';
import { fc, tries } from '../support/fuzz';

const key = 'sk-sk-01/abc';
const redaction = new Redaction(key);

describe('the API key in what the service says', () => {
	it.each([
		['as it is', `Bad key ${key}!`, 'Bad key ***!'],
		['with the slash of JSON', 'Bad key sk-sk-01\\/abc!', 'Bad key ***!'],
		['twice', key + key, '******'],
		['not whole', 'sk-sk-01/ab', 'sk-sk-01/ab'],
	])('is masked %s', (_, text, expected) => {
		expect(redaction.text(text)).toBe(expected);
	});

	it('is masked in JSON, whose texts came in pieces', () => {
		expect(redaction.json({ a: [`x${key}`], [key]: 1 })).toEqual({ a: ['x***'], '***': 1 });
		const other = { a: 'x' };
		expect(redaction.json(other)).toBe(other);
	});

	it.each([
		['sk-sk-01/ab', '***'],
		['a sk-sk-01', 'a ***'],
		['a sk-sk-0', 'a sk-sk-0'],
	])('is masked where a text broke off within it: %s', (text, expected) => {
		expect(redaction.truncated(text)).toBe(expected);
	});

	it('is left alone where it is a word of ordinary texts', () => {
		expect(new Redaction('demo').text('a demo')).toBe('a demo');
	});

	it('is masked in a text that comes in pieces as in the whole, and nothing is lost', () => {
		const parts = fc.constantFrom(key, 'sk-', 'sk-01/', 'abc', ' ', '\\/', key.slice(0, -1));
		const texts = fc.array(parts, { maxLength: 8 }).map((all) => all.join(''));
		const property = fc.property(texts, fc.array(fc.nat(9), { maxLength: 20 }), (text, sizes) => {
			const pieces = redaction.stream();
			let given = '';
			let rest = text;
			for (const size of sizes) {
				given += pieces.push(rest.slice(0, size));
				rest = rest.slice(size);
				expect(given).not.toContain(key);
			}
			given += pieces.push(rest);
			expect(given + pieces.end()).toBe(redaction.truncated(text));
		});
		fc.assert(property, tries(1000));
	});
});
