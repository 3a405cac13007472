import { fileTypeOf } from '../files/fileType';
import { decodeEntities } from '../markup';
import { maxBase64Words, maxFoundImages, maxLinkLength, maxTextTokens } from '../protocol/bounds';

/** An address in a text: a link, a data URL, or base64. */
interface Found {
	/** Where the address is in the text. */
	start: number;
	end: number;
	/** As it is meant: in HTML, an address is written with entities. */
	address: string;
	/** `link`: one that is not marked as an image, in Markdown or bare. */
	kind: 'image' | 'tag' | 'file' | 'base64' | 'link';
}

interface TextImages {
	images: Found[];
	/** Links that may be images, too, and were not taken. */
	others: string[];
}

/**
 * The images of an answer. Those that the text marks as images win: in Markdown, else in HTML. Without them, these are
 * the images inside the text, else the links in it that look like images. All takes linear time on any text.
 * @param areOthersKnown whether there are images beside the text, so that only marked ones count
 */
export function imagesIn(text: string, areOthersKnown: boolean): TextImages {
	const all = [...addressesIn(text)];
	const of = (kind: Found['kind']) => all.filter((found) => found.kind === kind);
	// A link may be its own text, as in `[https://…](https://…)`.
	const isText = ({ end, address }: Found, at: number) =>
		all.at(at + 1)?.start === end + ']('.length && all.at(at + 1)?.address === address;
	const links = all.filter((found, at) => isShortLink(found) && !isText(found, at));
	const likely = links.filter(
		(found) => (links.length === 1 && isAlone(text, found)) || endsLikeImage(found.address),
	);
	const others = areOthersKnown ? [] : [of('file'), of('base64'), likely];
	const images = [of('image'), of('tag'), ...others].find((found) => found.length > 0) ?? [];
	const taken = new Set(images.map(({ address }) => address));
	return {
		images: images.slice(0, maxFoundImages),
		others: likely.map(({ address }) => address).filter((address) => !taken.has(address)),
	};
}

const isShortLink = ({ address }: Found) =>
	/^https?:\/\//i.test(address) && address.length <= maxLinkLength;

const isAlone = (text: string, { start, end }: Found) =>
	!/[\p{L}\p{N}]/u.test(text.slice(0, start) + text.slice(end));

const ending = /.\.(png|jpe?g|webp|gif|avif|svg|bmp|tiff?|hei[cf]|jxl|jp2)(?!\.?\w)/i;

/** Whether a link looks like that of an image. */
export const endsLikeImage = (link: string): boolean =>
	ending.test(link.replace(/^https?:\/\//i, ''));

/** The text without the images inside it: they become files, and would fill the execution's log. */
export function withoutEmbedded(text: string, found: Found[]): string {
	let [shown, done] = ['', 0];
	const embedded = found.filter(({ address }) => !/^https?:/i.test(address) && isFile(address));
	for (const { start, end } of embedded) {
		const isAngled = text[start - 1] === '<' && text[end] === '>';
		shown += `${text.slice(done, isAngled ? start - 1 : start)}data:image`;
		done = isAngled ? end + 1 : end;
	}
	return shown + text.slice(done);
}

/** Whether this is a data URL, or the base64 of an image. */
export const isFile = (address: string): boolean =>
	/^data:/i.test(address) || isBase64Image(address);

/** Minimum length of base64 that can be an image, in characters: the smallest image has about 30 bytes. */
const minLength = 40;
/** As many as a signature can have. */
const headLength = 800;

/** Whether a text is the base64 of an image, as its first bytes show. */
function isBase64Image(text: string): boolean {
	const head = text.slice(0, headLength);
	if (text.length < minLength || !/^[\w+/=\s-]*$/.test(head)) return false;
	return fileTypeOf(Buffer.from(head, 'base64'))?.kind === 'image';
}

/** Where an address may begin: in Markdown, in HTML, in a data URL, a link, or a word that is long enough for base64. */
const beginnings =
	/\]\(\s{0,9}<?|<img[\s/]|data:image\/[^\s:,"'<>()]{1,100},|https?:\/\/|(?<![\w+/-])[\w+/-]{38}/gi;

/** One pass: what belongs to an address is not looked at again. */
function* addressesIn(text: string): Generator<Found, void, undefined> {
	let [since, words] = [0, 0];
	const token = new RegExp(beginnings);
	for (let tokens = 0; tokens < maxTextTokens && words < maxBase64Words; tokens++) {
		const match = token.exec(text);
		if (match === null) return;
		const { 0: head, index } = match;
		const isMarkdown = head.startsWith(']');
		if (/^[\w+/-]{38}$/.test(head)) words++;
		const before = isMarkdown ? text.slice(since, index) : '';
		const found = isMarkdown
			? inMarkdown(text, index + head.length, { head, before })
			: head.startsWith('<')
				? inTag(text, index)
				: plain(text, index, head);
		if (found?.kind !== undefined && found.end > found.start)
			yield { address: text.slice(found.start, found.end), ...found, kind: found.kind };
		token.lastIndex = Math.max(token.lastIndex, found?.end ?? 0);
		if (isMarkdown) since = token.lastIndex;
	}
}

/** @property kind undefined when this is no address */
type Part = Pick<Found, 'start' | 'end'> & { address?: string; kind?: Found['kind'] };

/**
 * An address after `](`. Its title is not looked at.
 * @param before the text since the last one: the bracket that opened last says whether it is an image
 */
function inMarkdown(
	text: string,
	start: number,
	{ head, before }: { head: string; before: string },
): Part {
	const isImage = before[before.lastIndexOf('[') - 1] === '!';
	const data = dataUrlAt(text, start);
	if (data) return { ...data, kind: isImage ? 'image' : data.kind };
	const angled = head.endsWith('<') ? matchAt(/[^<>\r\n]+(?=>)/y, text, start) : undefined;
	if (angled !== undefined) return { start, end: angled, kind: isImage ? 'image' : 'link' };
	const end = endOf(markdownParts, text, start);
	const isClosed = matchAt(/\s{0,99}[)"'(]/y, text, end) !== undefined;
	if (!isImage || isClosed || endsLikeImage(text.slice(start, end)))
		return { start, end, kind: isImage && end < text.length ? 'image' : 'link' };
	// The name of a file with spaces.
	const spaced = matchAt(/[ \t][^[\]()<>"'\r\n]{1,200}(?=\))/y, text, end) ?? end;
	return { start, end: spaced, kind: endsLikeImage(text.slice(start, spaced)) ? 'image' : 'link' };
}

/** The `src` of an image in HTML, with any quotes or none. */
function inTag(text: string, index: number): Part | undefined {
	const tag =
		/<img(?:[^<>"']|"[^"]*"|'[^']*'){0,9999}?[\s/]src\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+?)(?=\s|\/?>))/iy;
	tag.lastIndex = index;
	const match = tag.exec(text);
	if (match === null) return undefined;
	const [, quoted, single, plain] = match as Array<string | undefined>;
	const source = quoted ?? single ?? plain ?? '';
	const end = tag.lastIndex - (plain === undefined ? 1 : 0);
	return { start: end - source.length, end, address: decodeEntities(source).trim(), kind: 'tag' };
}

function plain(text: string, start: number, head: string): Part {
	const data = dataUrlAt(text, start);
	if (data) return data;
	if (/^http/i.test(head)) {
		let end = endOf(sentenceParts, text, start);
		while ('.,;:!?*'.includes(text[end - 1])) end--;
		return { start, end, kind: 'link' };
	}
	const end = base64End(text, start);
	return { start, end, kind: isBase64Image(text.slice(start, end)) ? 'base64' : undefined };
}

/** Parts of a link in Markdown, and in a sentence, which no space may separate from the marks after it. */
const markdownParts = /[^\s()<>]+|[()]/y;
const sentenceParts = /[^\s()<>"'`|\]，。；：！？、”’」』】》）]+|[()]/y;

/** Where a link ends, without a bracket that it did not open. */
function endOf(parts: RegExp, text: string, start: number): number {
	const part = new RegExp(parts);
	let [depth, end] = [0, start];
	for (;;) {
		part.lastIndex = end;
		const [found] = part.exec(text) ?? [];
		if (found === '(') depth++;
		if (found === undefined || (found === ')' && --depth < 0)) return end;
		end += found.length;
	}
}

/** Where a match that begins here, or later without `y`, ends. */
function matchAt(pattern: RegExp, text: string, start: number): number | undefined {
	pattern.lastIndex = start;
	return pattern.test(text) ? pattern.lastIndex : undefined;
}

function dataUrlAt(text: string, index: number): Part | undefined {
	const start = matchAt(/data:image\/[^\s:,"'<>()]{1,100},/iy, text, index);
	if (start === undefined) return undefined;
	const isBase64 = /;base64,$/i.test(text.slice(index, start));
	if (isBase64) return { start: index, end: base64End(text, start), kind: 'file' };
	// An SVG may have spaces and brackets in it.
	const end =
		text[start] === '<'
			? (matchAt(/<\/svg\s*>/gi, text, start) ?? text.length)
			: (matchAt(/[^\s"'<>\])]+/y, text, start) ?? start);
	return { start: index, end, kind: 'file' };
}

/** Minimum length of a line that base64 is wrapped into, in characters. Only the last line is shorter. */
const minLineLength = 60;

/** Where the base64 that begins here ends: perhaps some lines below. */
function base64End(text: string, start: number): number {
	for (let begin = start; ;) {
		const end = matchAt(/[\w+/-]*={0,2}/y, text, begin) ?? begin;
		const isWrapped = end - begin >= minLineLength && text[end - 1] !== '=';
		const next = isWrapped
			? matchAt(/\r?\n[ \t]{0,9}(?=[\w+/-]+={0,2}(?:[\r\n)>"'`]|$))/y, text, end)
			: undefined;
		if (next === undefined) return end;
		begin = next;
	}
}
