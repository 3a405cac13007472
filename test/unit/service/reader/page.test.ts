import { maxMarkupLength } from '../../../../nodes/shared/service/protocol/bounds';
import * as page from '../../../../nodes/shared/service/reader/page';

const reasonOf = (text: string, type?: string) =>
	page.readReason(text, type === undefined ? {} : { 'content-type': type });
const padding = ' '.repeat(maxMarkupLength);

describe('the reason in a body that is not JSON', () => {
	it.each<[what: string, text: string, type: string | undefined, reason: string | undefined]>([
		['of a text', ' No <b>luck</b> \n', undefined, 'No <b>luck</b>'],
		['of markup by its type', 'No <b>luck</b>', 'text/html', 'No luck'],
		['of XML by its type', 'No <b>luck</b>', 'application/xml', 'No luck'],
		['of markup by its beginning', ' <p>No <b>luck</b></p>', undefined, 'No luck'],
		['behind more than is searched', `${padding}No luck`, undefined, undefined],
		['of an image', 'text', 'image/png', undefined],
		['of a video', 'text', 'video/mp4', undefined],
		['of a sound', 'text', 'Audio/mpeg', undefined],
		['of a file', 'text', 'application/octet-stream', undefined],
		['of a text about an image', 'text', 'text/x-image/png', 'text'],
		['of bytes without a type', 'PK\u0003\u0004', undefined, undefined],
		['of bytes that are no text', 'a\ufffdb', undefined, undefined],
	])('is that %s', (_, text, type, reason) => {
		expect(reasonOf(text, type)).toBe(reason);
	});

	it('is one short line', () => {
		expect(reasonOf('a\nb')).toBe('a b');
		expect(reasonOf('a'.repeat(500))?.length).toBe(201);
	});

	it.each([
		['<e><faultstring>No</faultstring><errorCode>7</errorCode></e>', '7: No'],
		['<e><fault_string>No</fault_string><error_code>7</error_code></e>', '7: No'],
		['<e><msg>No</msg><other>b</other></e>', 'No'],
		['<e><detail>No</detail><other>b</other></e>', 'No'],
		['<e><description>No</description><other>b</other></e>', 'No'],
		['<e><reason>No</reason><other>b</other></e>', 'No'],
		['<e><reason>No</reason><message>first</message></e>', 'first'],
		['<e><code>7</code><other>b</other></e>', '7 b'],
		['<html><title>Error</title><h1>No</h1><body>b</body></html>', 'No'],
		['<html><title>Error 7</title><h1>No</h1></html>', 'Error 7'],
		['<html><head>a</head><body>b</body></html>', 'b'],
		[`<html><body>${' '.repeat(maxMarkupLength)}b</body></html>`, undefined],
	])('is on a page where people read it: %s', (markup, reason) => {
		expect(page.reasonInMarkup(markup)).toBe(reason);
	});
});

it.each([
	['<!DOCTYPE html>', {}, true],
	['see <html>', {}, false],
	[`${padding}<html>`, {}, false],
])('is a page by its beginning or its type: %j %j', (text, headers, isPage) => {
	expect(page.isWebPage({ text, headers: headers as Record<string, string> })).toBe(isPage);
});
