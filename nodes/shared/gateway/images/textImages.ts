import { fileTypeOf } from '../files/fileType';
import { decodeEntities } from '../markup';
import { maxBase64Words, maxFoundImages, maxLinkLength, maxTextTokens } from '../protocol/bounds';
import { endsLikeImage, first, type Found } from './found';
import { markdownAddresses } from './markdown';

/**
 * The images of an answer. Those that the text marks as images win: in Markdown, else in HTML. Without them, these are
 * the images inside the text, else the links in it that look like images. All takes linear time on any text, and only
 * the first of very many are found.
 * @param areOthersKnown whether there are images beside the text, so that only marked ones count
 */
export function imagesIn(text: string, areOthersKnown: boolean): Found[] {
	const { images, links } = markdownAddresses(text);
	if (images.length > 0) return images;
	const tags = htmlImages(text);
	if (tags.length > 0 || areOthersKnown) return tags;
	const embedded = embeddedImages(text);
	return embedded.length > 0 ? embedded : bareLinks(text, links);
}

/** The text without the images inside it: they become files, and would fill the execution's log. */
export function withoutEmbedded(text: string, found: Found[]): string {
	let [shown, done] = ['', 0];
	const embedded = found.filter(({ address }) => !/^https?:/i.test(address) && isFile(address));
	for (const { start, end } of embedded.sort((a, b) => a.start - b.start)) {
		const isAngled = text[start - 1] === '<' && text[end] === '>';
		shown += `${text.slice(done, isAngled ? start - 1 : start)}data:image`;
		done = isAngled ? end + 1 : end;
	}
	return shown + text.slice(done);
}

/** Whether this is a data URL, or the base64 of an image. */
const isFile = (address: string) => /^data:/i.test(address) || isBase64Image(address);

/** Minimum length of base64 that can be an image, in characters: the smallest image has about 30 bytes. */
const minLength = 40;
/** As many as a signature can have. */
const headLength = 800;

/** Whether a text is the base64 of an image, as its first bytes show. */
export function isBase64Image(text: string): boolean {
	const head = text.slice(0, headLength);
	if (text.length < minLength || !/^[\w+/=\s-]*$/.test(head)) return false;
	return fileTypeOf(Buffer.from(head, 'base64'))?.kind === 'image';
}

/** Addresses of `<img src=…>`, with any quotes or none. */
function htmlImages(text: string): Found[] {
	const found: Found[] = [];
	const attribute = /[\s/]*([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?/y;
	let done = 0;
	let tokens = 0;
	for (const { index } of text.matchAll(/<img(?=[\s/])/gi)) {
		if (found.length === maxFoundImages || ++tokens > maxTextTokens) break;
		if (index < done) continue;
		attribute.lastIndex = index + '<img'.length;
		let hasSource = false;
		for (;;) {
			const match = attribute.exec(text);
			if (match === null || ++tokens > maxTextTokens) break;
			done = attribute.lastIndex;
			const [, name, quoted, single, plain] = match as Array<string | undefined>;
			if (name?.toLowerCase() !== 'src' || hasSource) continue;
			hasSource = true;
			// The slash of `/>` is not part of the address.
			const source = quoted ?? single ?? (text[done] === '>' ? plain?.replace(/\/$/, '') : plain);
			if (!source) continue;
			const end = done - (plain === undefined ? 1 : plain.length - source.length);
			found.push({ start: end - source.length, end, address: decodeEntities(source).trim() });
		}
	}
	return found;
}

/** Data URLs of images, and the base64 of images without anything before it. */
function embeddedImages(text: string): Found[] {
	const found = dataUrls(text);
	if (found.length > 0) return found;
	// The last two characters may be padding.
	const beginning = new RegExp(`[\\w+/-]{${minLength - 2}}`, 'g');
	for (let words = 0; words < maxBase64Words && found.length < maxFoundImages; words++) {
		const match = beginning.exec(text);
		if (match === null) break;
		const start = match.index;
		const end = base64End(text, start);
		const address = text.slice(start, end);
		if (isBase64Image(address)) found.push({ start, end, address });
		beginning.lastIndex = end;
	}
	return found;
}

function dataUrls(text: string): Found[] {
	const found: Found[] = [];
	const svgEnd = /<\/svg\s*>/gi;
	let end = 0;
	for (const { index, 0: head } of text.matchAll(dataUrlHead)) {
		if (found.length === maxFoundImages) break;
		if (index < end) continue;
		const start = index + head.length;
		if (/;base64,$/i.test(head)) end = base64End(text, start);
		else if (text[start] === '<') {
			svgEnd.lastIndex = start;
			end = svgEnd.test(text) ? svgEnd.lastIndex : text.length;
		} else {
			const [address = ''] = /^[^\s"'<>\])]+/.exec(text.slice(start)) ?? [];
			end = start + address.length;
		}
		if (end > start) found.push({ start: index, end, address: text.slice(index, end) });
	}
	return found;
}

/** Minimum length of a line that base64 is wrapped into, in characters. Only the last line is shorter. */
const minLineLength = 60;

/** Where the base64 that begins here ends: perhaps some lines below. */
function base64End(text: string, start: number): number {
	const line = /[\w+/-]*={0,2}/y;
	const nextLine = /\r?\n(?=[\w+/-]+={0,2}(?![^\r\n]))/y;
	for (let begin = start; ; begin = nextLine.lastIndex) {
		line.lastIndex = begin;
		line.test(text);
		const end = line.lastIndex;
		nextLine.lastIndex = end;
		const isWrapped = end - begin >= minLineLength && text[end - 1] !== '=';
		if (!isWrapped || !nextLine.test(text)) return end;
	}
}

const dataUrlHead = /data:image\/[^\s:,"'<>()]{1,100},/gi;

/** A link in a sentence, which no space may separate from the marks after it. */
const linkInText = /https?:\/\/[^\s<>"'`|\]，。；：！？、”’」』】》）]+/gi;

/** The link if the text is nothing else, or the links in it that look like images. */
function bareLinks(text: string, links: Found[]): Found[] {
	const inMarkdown = new Map(links.map((link) => [link.start, link]));
	const word = /^https?:\/\/\S+$/i.exec(text.trim())?.[0];
	const words = word ? [{ index: text.indexOf(word), 0: word }] : text.matchAll(linkInText);
	const possible = [...first(maxFoundImages, words)].filter(
		({ 0: { length } }) => length <= maxLinkLength,
	);
	const found = possible.map(({ index, 0: given }) => {
		const end = index + linkLength(given);
		return inMarkdown.get(index) ?? { start: index, end, address: text.slice(index, end) };
	});
	const around = found.length === 1 && text.slice(0, found[0].start) + text.slice(found[0].end);
	const isAlone = around !== false && !/[\p{L}\p{N}]/u.test(around);
	return isAlone ? found : found.filter(({ address }) => endsLikeImage(address));
}

/** The length of a link without a bracket that it did not open, and without the marks of its sentence. */
function linkLength(text: string): number {
	let depth = 0;
	let end = 0;
	while (end < text.length && depth >= 0) {
		const character = text[end++];
		if (character === '(') depth++;
		else if (character === ')') depth--;
	}
	if (depth < 0) end--;
	while (end > 0 && '.,;:!?*'.includes(text[end - 1])) end--;
	return end;
}
