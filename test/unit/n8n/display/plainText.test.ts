import { asHtml, asMarkdown, withoutTags } from '../../../../nodes/shared/n8n/display/plainText';

describe('a text of others', () => {
	it.each([
		['<img src=x>', '&lt;img src=x>'],
		['<<a href="x">', '&lt;&lt;a href="x">'],
		['&lt;b&gt; &#60; &#x3c; &copy;', '&amp;lt;b&amp;gt; &amp;#60; &amp;#x3c; &amp;copy;'],
		['![a](https://a.b) [c][d]', '![a&#93;(https://a.b) [c&#93;[d]'],
		['"Tom" & \'Jerry\' [1] https://a.b/?c=1&d=2', '"Tom" & \'Jerry\' [1] https://a.b/?c=1&d=2'],
	])('is no markup in HTML, and stays as it is if it was none: %s', (text, html) => {
		expect(asHtml(text)).toBe(html);
	});

	it.each([
		['<img src=x></a><!-- <?', '‹img src=x>‹/a>‹!-- ‹?'],
		['1 < 2, a <3 b <', '1 < 2, a <3 b <'],
	])('begins no tag in a message: %s', (text, message) => {
		expect(withoutTags(text)).toBe(message);
	});

	it.each([
		['![a](b)', '\\!\\[a\\]\\(b\\)'],
		['_a_ b_c-d -- _', '\\_a\\_ b_c-d \\-\\- \\_'],
		['https://a.b', 'https\\:\\/\\/a\\.b'],
		['a\n# b\u202ec', 'a \\# bc'],
		['in progress 作成中 ✓', 'in progress 作成中 ✓'],
	])('has no meaning in Markdown, and stays as it is if it had none: %s', (text, markdown) => {
		expect(asMarkdown(text)).toBe(markdown);
	});
});
