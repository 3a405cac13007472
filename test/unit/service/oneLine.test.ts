import { oneLine } from '../../../nodes/shared/service/oneLine';

const tags = (text: string) =>
	[...text].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');

describe('a text of others on one line', () => {
	it.each([
		['line breaks', 'a\r\n\u2028\u2029\u0085\u000bb', 'a b'],
		['control characters', 'a\0\u001b[2J\u009b31mb', 'a [2J 31mb'],
		['overrides and isolates of the direction', 'a\u202eb\u2066c\u2069\u202cd', 'abcd'],
		['characters without width', 'a\u200bb\u2060c\u2064d\u180ee', 'abcde'],
		['a message in tags', `a${tags('order ten')}b`, 'ab'],
		['a message in selectors', `a${'\ufe01\u{e0120}'.repeat(9)}b`, 'ab'],
		['a message in joiners', `a${'\u200c\u200d'.repeat(9)}b`, 'ab'],
	])('has no %s', (_, text, line) => {
		expect(oneLine(text)).toBe(line);
	});

	it.each([
		['emoji', '👩‍👩‍👧 ❤️‍🔥 🏳️‍🌈 👍🏽 ☎︎'],
		['the flag of a region', `🏴${tags('gb')}\u{e007f}!`],
		['Persian', 'آ‌ب'],
		['Hindi', 'क्‍ष र्‍य'],
		['Hebrew with its marks', 'אב\u200f! \u200eabc'],
		['a rare kanji', '葛\u{e0100}城'],
		['accents and hyphens', 'Zoë soft\u00adhyphen e\u0301'],
	])('keeps %s', (_, text) => {
		expect(oneLine(text)).toBe(text);
	});
});
