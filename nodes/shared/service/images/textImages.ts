import { fileTypeOf } from '../files/fileType';
import { decodeEntities } from '../markup';
import { maxFoundImages, maxLinkLength, maxLinkText, maxTextTokens } from '../protocol/bounds';

/**
 * The files in the text of an answer and the links that Markdown or HTML marks as images; without any, links that look
 * like images. Takes linear time.
 * @param areOthersKnown whether there are images beside the text, so that links without a mark do not count
 * @returns links, data URLs or base64; and other links that may be images
 */
export function imagesIn(text: string, areOthersKnown: boolean) {
	const { files, rest } = filesIn(text);
	const words = rest.slice(0, maxLinkText);
	const found = linksIn(words);
	const links = new Set(found.map(({ link }) => link).filter(isShortLink));
	const likely = [...links].filter(
		(link) => endsLikeImage(link) || (links.size === 1 && isAlone(words, link)),
	);
	const shown = found.filter(({ isMarked }) => isMarked).map(({ link }) => link);
	const sure = [...files, ...shown];
	const taken = new Set(sure.length > 0 || areOthersKnown ? sure : likely);
	const images = [...taken].slice(0, maxFoundImages);
	return { images, others: likely.filter((link) => !taken.has(link)) };
}

const isShortLink = (address: string) =>
	/^https?:\/\//i.test(address) && address.length <= maxLinkLength;

/** Whether a text is nothing but the link, once or as its own text. */
const isAlone = (text: string, link: string) =>
	text.length <= 3 * maxLinkLength && !/[\p{L}\p{N}]/u.test(text.replaceAll(link, ''));

const ending = /[^/]\.(?:png|jpe?g|webp|gif|avif|svg|bmp|tiff?|hei[cf]|jxl|jp2)(?!\.?\w)/i;

export const endsLikeImage = (link: string): boolean => ending.test(link);

// ── Files within a text ──────────────────────────────────────────────────────────────────────────

/** In characters of base64: the smallest image has about 30 bytes. */
const minLength = 40;
/** Without the padding. */
const minLetters = minLength - 2;
/** In characters: no signature is longer. */
const headLength = 800;

export const mayBeBase64 = (text: string): boolean =>
	/^[\w+/=\s-]*$/.test(text.slice(0, headLength));

/** Whether this is a data URL or the base64 of an image. */
export function isFile(text: string): boolean {
	if (/^data:/i.test(text)) return true;
	if (text.length < minLength || !mayBeBase64(text)) return false;
	return fileTypeOf(Buffer.from(text.slice(0, headLength), 'base64'))?.kind === 'image';
}

/** Stands in a text for a file that was in it. */
export const filePlace = 'data:image';

/** Perhaps wrapped into lines of 60 characters or more, of which only the last is shorter. */
const base64 = String.raw`[\w+/-]+={0,2}(?:(?<=[\w+/-]{60})\r?\n[ \t]{0,9}[\w+/-]+={0,2}(?![^\r\n)>"'\x60]))*`;
/** An SVG may have spaces and brackets in it. */
const dataUrl = String.raw`data:image\/[^\s:,"'<>()]{1,100}(?:(?<=;base64),${base64}|,<[^]*?(?:<\/svg\s*>|$)|,[^\s"'<>\])]+)`;
const anyFile = String.raw`<?(${dataUrl})>?|(?<![\w+/-])(?=[\w+/-]{${minLetters}})(${base64})`;

/** The files in a text, and the text without them: they would fill the execution's log. */
export function filesIn(text: string): { files: string[]; rest: string } {
	const files: string[] = [];
	if (!/data:image\//i.test(text) && !hasLongWord(text)) return { files, rest: text };
	const pattern = new RegExp(anyFile, 'gi');
	const parts: string[] = [];
	let end = 0;
	for (let tokens = 0; tokens < maxTextTokens && files.length < maxFoundImages; tokens++) {
		const match = pattern.exec(text);
		if (!match) break;
		const file = match[1] ?? match[2];
		if (!isFile(file)) continue;
		files.push(file);
		parts.push(text.slice(end, match.index), filePlace);
		end = pattern.lastIndex;
	}
	return { files, rest: parts.join('') + text.slice(end) };
}

/** Whether the text may have base64 of an image: that covers at least one of these parts. */
function hasLongWord(text: string): boolean {
	const length = minLetters / 2;
	const part = new RegExp(String.raw`[\w+/-]{${length}}`, 'y');
	for (let at = 0; at < text.length; at += length) {
		part.lastIndex = at;
		if (part.test(text)) return true;
	}
	return false;
}

// ── Links within a text ──────────────────────────────────────────────────────────────────────────

/** A link with the brackets that it opens itself. */
const linkWithout = (marks: string) => {
	const character = String.raw`[^\s()<>${marks}]`;
	return String.raw`(?:${character}|\((?:${character}|\(${character}*\))*\)){1,${maxLinkLength}}`;
};
/** In Markdown, in HTML with any quotes or none, or in a sentence, whose marks may follow without a space. */
const anyLink = [
	String.raw`!\[[^[\]]*(?:\[[^[\]]*\][^[\]]*)*\]\(\s{0,9}<?(${linkWithout('')})(?=>?\s{0,9}\)|\s+["'(])`,
	String.raw`<img(?:[^<>"']|"[^"]*"|'[^']*'){0,9999}?[\s/]src\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+?)(?=\s|\/?>))`,
	String.raw`(https?:\/\/${linkWithout('"\'`|\\]，。；：！？、”’」』】》）')})`,
].join('|');

/** Markdown may have a backslash before punctuation. */
const escape = /\\(?=[!-/:-@[-`{-~])/g;
/** Marks of a sentence behind a link. */
const endMarks = /(?<![.,;:!?*])[.,;:!?*]+$/;

function linksIn(text: string): Array<{ link: string; isMarked: boolean }> {
	const pattern = new RegExp(anyLink, 'gi');
	const found: Array<{ link: string; isMarked: boolean }> = [];
	for (let tokens = 0; tokens < maxTextTokens; tokens++) {
		const match = pattern.exec(text) as Array<string | undefined> | null;
		if (!match) break;
		const [, markdown, double, single, bare, sentence] = match;
		const marked = markdown?.replace(escape, '') ?? double ?? single ?? bare ?? '';
		const link = sentence?.replace(endMarks, '') ?? decodeEntities(marked, true).trim();
		const isMarked = sentence === undefined;
		if (link !== '' && !link.includes(filePlace)) found.push({ link, isMarked });
	}
	return found;
}
