import type { FileType } from './signatures';

const textType = (mimeType: string, name: string, extension: string): FileType => ({
	...{ kind: 'text', mimeType, name, extensions: [extension] },
});

export const plainText = textType('text/plain', 'a text', 'txt');
const webPage = textType('text/html', 'a web page', 'html');
const xml = textType('application/xml', 'an XML document', 'xml');
const json = textType('application/json', 'JSON', 'json');
const dataUrl: FileType = {
	...textType('text/plain', 'the text of a data URL', 'txt'),
	isEncoded: true,
};
const svg: FileType = {
	...{ kind: 'image', mimeType: 'image/svg+xml', name: 'an SVG image', extensions: ['svg'] },
};
const portableAnymap: FileType = {
	...{ kind: 'image', mimeType: 'image/x-portable-anymap', name: 'a PNM image' },
	extensions: ['pnm', 'ppm', 'pgm', 'pbm'],
};

/** The images that are written as text. */
export const textImages = [svg, portableAnymap];

/** Whether the first bytes are those of a text, read as Latin-1; in UTF-16, it begins with a byte order mark. */
export const isText = (latin1: string): boolean => /^(\xff\xfe|\xfe\xff|[^\0-\b]*$)/.test(latin1);

/** What a text is, by its beginning. */
export function textTypeOf(head: Buffer): FileType {
	const text = decode(head).trimStart();
	if (text.startsWith('<')) return markupType(text);
	if (/^[[{]\s*(["{}[\]\d]|-\d|true|false|null)/.test(text)) return json;
	if (/^data:[\w.+-]+\/[\w.+-]+[;,]/i.test(text)) return dataUrl;
	if (/^P[1-3]\s/.test(text)) return portableAnymap;
	return plainText;
}

function decode(head: Buffer): string {
	if (head[0] === 0xff && head[1] === 0xfe) return head.toString('utf16le', 2);
	if (head[0] === 0xfe && head[1] === 0xff) {
		return Buffer.from(head.subarray(2, head.length & ~1))
			.swap16()
			.toString('utf16le');
	}
	return head.toString('utf8').replace(/^\ufeff/, '');
}

/** The elements with which a page may begin when it leaves out its root. */
const pageElements = /^(html|head|body|title|meta|script|style|link|div|p|h1|center|iframe)$/;

/** By the root element, behind declarations, comments and the DOCTYPE. */
function markupType(text: string): FileType {
	let rest = text;
	let isXml = false;
	for (;;) {
		const [, opening] = /^<(\?|!--|!DOCTYPE)/i.exec(rest) ?? [];
		if (opening === undefined) break;
		if (opening === '?') isXml = true;
		if (/^<!DOCTYPE\s+html/i.test(rest)) return webPage;
		const end = endOf(rest, opening);
		if (end === -1) return xml;
		rest = rest.slice(end).trimStart();
	}
	const [, root] = /^<(?:[a-z][\w.-]*:)?([a-z][\w.-]*)/i.exec(rest) ?? [];
	if (root === undefined) return isXml ? xml : plainText;
	if (root === 'svg') return svg;
	return pageElements.test(root.toLowerCase()) ? webPage : xml;
}

/** Where the declaration, comment or DOCTYPE at the start of the text ends; -1 when that comes later. */
function endOf(text: string, opening: string): number {
	if (opening === '?') return endOfMark(text, '?>');
	if (opening === '!--') return endOfMark(text, '-->');
	// A DOCTYPE may declare entities between square brackets.
	const [{ length }] = /^[^[>]*(\[[^\]]*\]\s*)?>?/.exec(text) ?? [''];
	return text[length - 1] === '>' ? length : -1;
}

function endOfMark(text: string, mark: string): number {
	const offset = text.indexOf(mark, 2);
	return offset === -1 ? -1 : offset + mark.length;
}
