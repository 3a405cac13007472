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
	const all = [...addressesIn(text)];
	const of = (...kinds: Kind[]) =>
		all.filter(({ kind }) => kinds.includes(kind)).map(({ address }) => address);
	// A link may be its own text, as in `[https://…](https://…)`.
	const links = new Set(of('link', 'linked', 'marked', 'spaced', 'tag').filter(isShortLink));
	const likely = [...links].filter(
		(link) => endsLikeImage(link) || (links.size === 1 && isAlone(text, link)),
	);
	const marked = [of('marked', 'spaced'), of('tag')];
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

const isAlone = (text: string, link: string) => !/[\p{L}\p{N}]/u.test(text.replaceAll(link, ''));

const extensions = 'png|jpe?g|webp|gif|avif|svg|bmp|tiff?|hei[cf]|jxl|jp2';
const ending = new RegExp(`.\\.(?:${extensions})(?!\\.?\\w)`, 'i');

/** Whether a link looks like that of an image. */
export const endsLikeImage = (link: string): boolean =>
	ending.test(link.replace(/^https?:\/\//i, ''));

/** The text without the images inside it: they become files, and would fill the execution's log. */
export const withoutEmbedded = (text: string): string => text.replace(embedded, 'data:image');

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

const forms = [
	// Markdown, where a link may be in angle brackets, or the name of a file with spaces.
	String.raw`!\[[^[\]]*\]\(\s{0,9}(?:<(?<spaced>[^<>\r\n]+)>|(?<marked>${dataUrl}|[^()<>"'\r\n]*\.(?:${extensions})(?=\))|${linkWithout('')})(?=[\s)]))`,
	String.raw`\]\(\s{0,9}<?(?<linked>${dataUrl}|${linkWithout('')})`,
	// HTML, with any quotes or none.
	String.raw`<img(?:[^<>"']|"[^"]*"|'[^']*'){0,9999}?[\s/]src\s*=\s*(?:"(?<tag>[^"]*)"|'(?<quoted>[^']*)'|(?<plain>[^\s"'<>]+?)(?=\s|\/?>))`,
	`(?<file>${dataUrl})`,
	// A link in a sentence, from which no space may separate the marks after it.
	String.raw`(?<link>https?:\/\/${linkWithout('"\'`|\\]，。；：！？、”’」』】》）')})`,
	String.raw`(?<![\w+/-])(?=[\w+/-]{38})(?<base64>${base64})`,
];
type Kind = 'marked' | 'spaced' | 'linked' | 'tag' | 'file' | 'link' | 'base64';

const embedded = new RegExp(`<?${dataUrl}>?|(?<![\\w+/-])(?=[\\w+/-]{2000})${base64}`, 'gi');

/** One pass: what belongs to an address is not looked at again. */
function* addressesIn(text: string): Generator<{ kind: Kind; address: string }> {
	const pattern = new RegExp(forms.join('|'), 'gi');
	for (let tokens = 0; tokens < maxTextTokens; tokens++) {
		const groups = pattern.exec(text)?.groups;
		if (!groups) return;
		const { quoted, plain, tag = quoted ?? plain, ...others } = groups;
		const found = Object.entries({ ...others, tag }).find(([, address]) => address);
		if (!found) continue;
		const [kind, address] = found as [Kind, string];
		if (kind === 'tag') yield { kind, address: decodeEntities(address).trim() };
		else if (/^data:/i.test(address)) yield { kind: kind === 'linked' ? 'file' : kind, address };
		else
			yield {
				kind,
				address: kind === 'link' ? address.replace(/(?<![.,;:!?*])[.,;:!?*]+$/, '') : address,
			};
	}
}
