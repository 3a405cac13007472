import { excerpt } from '../json';
import { elementIn, plainTextOf } from '../markup';
import { maxMarkupLength } from '../protocol/bounds';

const maxLineLength = 200;

/** Why a request failed, in one line without markup, from a body that is a plain text, XML, or a proxy's page. */
export function readReason(text: string, headers: Record<string, string>): string | undefined {
	const type = headers['content-type'] ?? '';
	const start = text.slice(0, maxMarkupLength).trim();
	const isFile = /^(?:image|video|audio)\/|octet-stream/i.test(type) || /[\0-\b\ufffd]/.test(start);
	if (isFile) return undefined;
	const isMarkup = start.startsWith('<') || /html|xml/i.test(type);
	const reason = isMarkup ? reasonInMarkup(start) : start;
	return reason ? excerpt(withoutStack(reason), maxLineLength) : undefined;
}

/**
 * The first line of a stack of JavaScript or Java, or of one of Python behind its error. A place in the middle of a
 * sentence is none: it may be that of the mistake.
 */
const stack =
	/(?:\n\s{0,20}at [^\n]{0,300}:\d+\)?(?=\n|$)|\sat (?:async )?[^\s()]{1,300} ?\([^\s()"]{1,300}:\d+\)|\sFile "[^"\n]{1,300}", line \d+, in )[^]*$/;

/** The stack of a program says nothing to a person, and the record of the error keeps it. */
export const withoutStack = (text: string): string =>
	text
		.replace(/^Traceback \(most [^]*\n(?=\S)/, '')
		.replace(stack, '')
		.trim();

export function reasonInMarkup(text: string): string | undefined {
	const markup = text.slice(0, maxMarkupLength);
	const textIn = (...names: string[]) =>
		names.map((name) => plainTextOf(elementIn(markup, name) ?? '')).find((found) => found !== '');
	if (!/<(?:!doctype html|html|head|body|title|h1)\b/i.test(markup)) {
		const message = textIn('message', 'fault_?string', 'msg', 'detail', 'description', 'reason');
		const code = textIn('code', 'error_?code');
		return message && code ? `${code}: ${message}` : (message ?? plainTextOf(markup));
	}
	// The title of some pages says only that there is an error.
	return [textIn('title'), textIn('h1'), plainTextOf(elementIn(markup, 'body') ?? markup)].find(
		(found) => found && !/^error$/i.test(found),
	);
}

export function isWebPage(response: { text: string; headers: Record<string, string> }): boolean {
	const { headers } = response;
	const text = response.text.slice(0, maxMarkupLength);
	return /html/i.test(headers['content-type'] ?? '') || /^\s*<(!doctype|html)/i.test(text);
}
