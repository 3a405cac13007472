import { fileTypeOf } from '../files/fileType';
import { decodeEntities } from '../markup';
import { maxBase64Words, maxFoundImages, maxLinkLength, maxTextTokens } from '../protocol/bounds';

interface TextImages {
	/** Links, data URLs, or base64. */
	images: string[];
	/** Links that may be images, too, and were not taken. */
	others: string[];
}

/**
 * The images of an answer. Those that the text marks as images win: in Markdown, else in HTML. Without them, these are
 * the images inside the text, else the links in it that look like images. Linear in the length of any text.
 * @param areOthersKnown whether there are images beside the text, so that only marked ones count
 */
export function imagesIn(text: string, areOthersKnown: boolean): TextImages {
	const all = addressesIn(text);
	const of = (...kinds: Kind[]) =>
		all.filter(({ kind }) => kinds.includes(kind)).map(({ address }) => address);
	// A link may be its own text, as in `[https://…](https://…)`.
	const links = new Set(of('link', 'marked', 'tag').filter(isShortLink));
	const likely = [...links].filter(
		(link) => endsLikeImage(link) || (links.size === 1 && isAlone(text, link)),
	);
	const marked = [of('marked'), of('tag')];
	const base64 = of('base64').slice(0, maxBase64Words).filter(isFile);
	const others = areOthersKnown ? [] : [of('file'), base64, likely];
	const images = [...marked, ...others].find((found) => found.length > 0) ?? [];
	const taken = new Set(images);
	return {
		images: images.slice(0, maxFoundImages),
		others: likely.filter((link) => !taken.has(link)),
	};
}

const isShortLink = (address: string) =>
	/^https?:\/\//i.test(address) && address.length <= maxLinkLength;

/** Whether a text is nothing but the link, once or as its own text. */
const isAlone = (text: string, link: string) =>
	text.length <= 3 * maxLinkLength && !/[\p{L}\p{N}]/u.test(text.replaceAll(link, ''));

const extensions = 'png|jpe?g|webp|gif|avif|svg|bmp|tiff?|hei[cf]|jxl|jp2';
const ending = new RegExp(`.\\.(?:${extensions})(?!\\.?\\w)`, 'i');

/** Whether a link looks like that of an image. */
export const endsLikeImage = (link: string): boolean =>
	ending.test(link.replace(/^https?:\/\//i, ''));

/** The text without the images inside it: they become files, and would fill the execution's log. */
export function withoutEmbedded(text: string): string {
	if (!/data:image\//i.test(text) && !hasLongWord(text)) return text;
	const pattern = new RegExp(embedded, 'gi');
	const parts: string[] = [];
	let end = 0;
	for (let tokens = 0; tokens < maxTextTokens; tokens++) {
		const match = pattern.exec(text);
		if (!match) break;
		parts.push(text.slice(end, match.index), 'data:image');
		end = pattern.lastIndex;
	}
	return parts.join('') + text.slice(end);
}

/** Whether a text has base64 of 2,000 characters, which has all of one of these parts of the text. */
function hasLongWord(text: string): boolean {
	const part = /[\w+/-]{1000}/y;
	for (let at = 0; at < text.length; at += 1_000) {
		part.lastIndex = at;
		if (part.test(text)) return true;
	}
	return false;
}

/** Minimum length of base64 that can be an image, in characters: the smallest image has about 30 bytes. */
const minLength = 40;
/** As many as a signature can have. */
const headLength = 800;

/** Whether this is a data URL, or the base64 of an image, as its first bytes show. */
export function isFile(text: string): boolean {
	if (/^data:/i.test(text)) return true;
	const head = text.slice(0, headLength);
	if (text.length < minLength || !/^[\w+/=\s-]*$/.test(head)) return false;
	return fileTypeOf(Buffer.from(head, 'base64'))?.kind === 'image';
}

// ── What an address looks like ───────────────────────────────────────────────────────────────────

/** Perhaps wrapped into lines of 60 characters or more, of which only the last is shorter. */
const base64 = String.raw`[\w+/-]+={0,2}(?:(?<=[\w+/-]{60})\r?\n[ \t]{0,9}[\w+/-]+={0,2}(?![^\r\n)>"'\x60]))*`;
/** An SVG may have spaces and brackets in it. */
const dataUrl = String.raw`data:image\/[^\s:,"'<>()]{1,100}(?:(?<=;base64),${base64}|,<[^]*?(?:<\/svg\s*>|$)|,[^\s"'<>\])]+)`;
/** A link with the brackets that it opens itself. */
const linkWithout = (marks: string) => {
	const character = String.raw`[^\s()<>${marks}]`;
	return String.raw`(?:${character}|\((?:${character}|\(${character}*\))*\)){1,${maxLinkLength}}`;
};

/** Where an address stands, and how it is marked there. Each group of a pattern has the kind at its place. */
const forms: ReadonlyArray<readonly [pattern: string, ...groups: Kind[]]> = [
	// Markdown, where a link may be in angle brackets, or the name of a file with spaces.
	[
		String.raw`!\[[^[\]]*\]\(\s{0,9}(?:<([^<>\r\n]+)>|(${dataUrl}|[^()<>"'\r\n]*\.(?:${extensions})(?=\))|${linkWithout('')})(?=[\s)]))`,
		...(['marked', 'marked'] as const),
	],
	[String.raw`\]\(\s{0,9}<?(${dataUrl}|${linkWithout('')})`, 'link'],
	// HTML, with any quotes or none.
	[
		String.raw`<img(?:[^<>"']|"[^"]*"|'[^']*'){0,9999}?[\s/]src\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+?)(?=\s|\/?>))`,
		...(['tag', 'tag', 'tag'] as const),
	],
	[`(${dataUrl})`, 'file'],
	// A link in a sentence, from which no space may separate the marks after it.
	[String.raw`(https?:\/\/${linkWithout('"\'`|\\]，。；：！？、”’」』】》）')})`, 'sentence'],
	[String.raw`(?<![\w+/-])(?=[\w+/-]{38})(${base64})`, 'base64'],
];
type Kind = 'marked' | 'tag' | 'file' | 'base64' | 'link' | 'sentence';

const anyForm = forms.map(([pattern]) => pattern).join('|');
const kindOfGroup = forms.flatMap(([, ...groups]) => groups);

const embedded = `<?${dataUrl}>?|(?<![\\w+/-])(?=[\\w+/-]{2000})${base64}`;

/** One pass: what belongs to an address is not looked at again. */
function addressesIn(text: string): Array<{ kind: Kind; address: string }> {
	const pattern = new RegExp(anyForm, 'gi');
	const found: Array<{ kind: Kind; address: string }> = [];
	for (let tokens = 0; tokens < maxTextTokens; tokens++) {
		const match = pattern.exec(text) as Array<string | undefined> | null;
		if (!match) break;
		const group = match.findIndex((address, at) => at > 0 && address !== undefined);
		const [kind, address] = [kindOfGroup[group - 1], match[group] ?? ''];
		if (address !== '') found.push({ kind, address });
	}
	return found.map(({ kind, address }) => {
		if (kind === 'tag') return { kind, address: decodeEntities(address).trim() };
		if (kind === 'link' && /^data:/i.test(address)) return { kind: 'file', address };
		const isSentence = kind === 'sentence';
		return isSentence
			? { kind: 'link', address: address.replace(/(?<![.,;:!?*])[.,;:!?*]+$/, '') }
			: { kind, address };
	});
}
