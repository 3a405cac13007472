import { readReason } from '../../../../nodes/shared/service/reader/page';

describe('the reason in a body that is not JSON', () => {
	const html = (...parts: string[]) => `<!DOCTYPE html>\n<html><head>${parts.join('')}</html>`;

	it.each<[string, string, string, string | undefined]>([
		['a text', 'text/plain', 'Too many\n requests\n', 'Too many requests'],
		[
			'a title',
			'text/html',
			html('<title>\n413 Too&#32;Large </title>', '<h1>Other</h1>'),
			'413 Too Large',
		],
		['a heading', 'text/html', '<h1 class="a">Bad <b>Gateway</b></h1><p>nginx</p>', 'Bad Gateway'],
		[
			'the text of a page without its style and script',
			'text/html',
			html(
				'<style>p { a: b }</style><script>if (a < b) c();</script>',
				'<body><p>No</p> <p>luck</p>',
			),
			'No luck',
		],
		[
			'entities',
			'text/html',
			'<h1>&quot;a&quot; &lt; b &amp; c&#x2F;d &#039;e&#39; &nbsp;&ndash; &unknown; &#99999999;</h1>',
			`"a" < b & c/d 'e' – &unknown; &#99999999;`,
		],
		['a heading after an empty title', '', html('<title> </title>', '<h1>No</h1>'), 'No'],
		[
			'an error without its stack',
			'text/plain',
			'Error: No luck\n    at async run (/srv/a.js:1:2)\n    at b',
			'Error: No luck',
		],
		['an error with a time', 'text/plain', 'No luck at 12:30:15', 'No luck at 12:30:15'],
		['other XML', 'application/xml', '<problem><what>No</what></problem>', 'No'],
	])('reads the reason in %s', (_, type, text, expected) => {
		expect(readReason(text, { 'content-type': type })).toBe(expected);
	});

	it('shortens a long reason', () => {
		expect(readReason(`<title>${'no '.repeat(500)}</title>`, {})).toHaveLength(201);
		expect(readReason('no '.repeat(500), {})).toHaveLength(201);
	});
});
