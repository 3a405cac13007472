import { dataUrl, json, plainText, svg, webPage, xml, type FileType } from './signatures';

/** Whether the first bytes are those of a text, read as Latin-1. */
export const isText = (latin1: string): boolean => /^[^\0-\b]*$/.test(latin1);

/** What a text is, by its beginning. */
export function textTypeOf(head: Buffer): FileType {
	const text = head
		.toString('utf8')
		.replace(/^\ufeff/, '')
		.trimStart();
	if (text.startsWith('<')) return markupType(text);
	if (/^[[{]\s*(["{}[\]\d]|-\d|true|false|null)/.test(text)) return json;
	return /^data:[\w.+-]+\/[\w.+-]+[;,]/i.test(text) ? dataUrl : plainText;
}

/** The elements with which a page may begin when it leaves out its root. */
const pageElements = /^(html|head|body|title|meta|script|style|link|div|p|h1|center|iframe)$/i;

/** By the first element, whatever declarations and comments come before it. */
function markupType(text: string): FileType {
	const [before, ...comments] = text.split('<!--');
	const rest = before + comments.map((comment) => comment.split('-->').slice(1).join()).join('');
	const [, root] = /<(?:[a-z][\w.-]*:)?([a-z][\w.-]*)/i.exec(rest) ?? [];
	if (/^\s*<!DOCTYPE\s+html/i.test(rest) || pageElements.test(root ?? '')) return webPage;
	if (root === 'svg') return svg;
	return root !== undefined || text.startsWith('<?xml') ? xml : plainText;
}
