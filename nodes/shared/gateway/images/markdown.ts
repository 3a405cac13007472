import { maxFoundImages, maxOpenBrackets, maxTextTokens } from '../protocol/bounds';
import { endsLikeImage, first, type Found } from './found';

/** Maximum length of the name by which an image refers to its link. */
const maxLabelLength = 200;

/** A link or an image whose round bracket is open. */
interface Open {
	start: number;
	isImage: boolean;
}

/**
 * The addresses of all images and links in a Markdown text, in order. One pass, so that long texts take linear time.
 */
export function markdownAddresses(text: string): { images: Found[]; links: Found[] } {
	const reader = new Reader(text);
	reader.read();
	const inOrder = (found: Placed[]) =>
		found
			.sort((a, b) => a.place - b.place)
			.map(({ start, end, address }) => ({ start, end, address }));
	return { images: inOrder(reader.images), links: inOrder(reader.links) };
}

interface Placed extends Found {
	/** Where the image or link stands in the text; its address may be elsewhere. */
	place: number;
}

class Reader {
	readonly images: Placed[] = [];
	readonly links: Placed[] = [];
	private readonly definitions: Map<string, Found>;
	/** For each open square bracket, where its text begins, and whether it begins an image. */
	private readonly brackets: Open[] = [];
	/** For each open round bracket, where the address in it begins; undefined when it holds none. */
	private readonly addresses: Array<Open | undefined> = [];
	/** An address after which a space came: its title may follow, or the rest of an address with spaces. */
	private spaced?: { open: Open; end: number; depth: number };
	private closingAngle = -1;

	constructor(private readonly text: string) {
		this.definitions = definitionsIn(text);
	}

	read(): void {
		const tokens = /\\[[\]]|!\[|\[|\]\(\s*|\]|\(|\)|\s+/g;
		// Most texts have neither images nor links.
		tokens.lastIndex = this.text.search(/[!\\]?\[/);
		if (tokens.lastIndex < 0) return;
		for (const { 0: token, index } of first(maxTextTokens, this.text.matchAll(tokens))) {
			if (Math.max(this.brackets.length, this.addresses.length) > maxOpenBrackets) break;
			if (this.images.length >= maxFoundImages) break;
			if (!token.startsWith('\\') && !this.readSpaced(token, index)) this.readToken(token, index);
		}
		this.endSpaced();
	}

	private readToken(token: string, index: number): void {
		const { brackets, addresses, text } = this;
		if (/\s$/.test(token)) {
			const open = addresses.at(-1);
			const end = token.startsWith(']') ? index + 2 : index;
			const isSpaced = open !== undefined && !/[\]\r\n]/.test(token);
			if (isSpaced) this.spaced = { open, end, depth: 0 };
			const ended = addresses.splice(0);
			for (const each of isSpaced ? ended.slice(0, -1) : ended) this.close(each, end);
		}
		const start = index + token.length;
		if (token.endsWith('[')) brackets.push({ start, isImage: token === '![' });
		else if (token === '(') addresses.push(undefined);
		else if (token === ')') this.close(addresses.pop(), index);
		else if (token.startsWith(']')) {
			const bracket = brackets.pop();
			if (token === ']') return this.readReference(bracket, index);
			const isAngled = bracket !== undefined && text[start] === '<';
			addresses.push(bracket && !isAngled ? { ...bracket, start } : undefined);
			if (!isAngled) return;
			if (this.closingAngle < start) this.closingAngle = text.indexOf('>', start);
			if (this.closingAngle === -1) this.closingAngle = Infinity;
			if (this.closingAngle !== Infinity)
				this.close({ ...bracket, start: start + 1 }, this.closingAngle);
		}
	}

	/** Whether this token is part of what follows the space after an address. */
	private readSpaced(token: string, index: number): boolean {
		const { spaced } = this;
		if (spaced === undefined) return false;
		if (token === '(') spaced.depth++;
		else if (token === ')') {
			if (spaced.depth-- === 0) this.endSpaced(index);
		} else if (/[^ \t]/.test(token)) {
			this.endSpaced();
			return false;
		}
		return true;
	}

	/** @param bracket where the round bracket closes; undefined when it does not */
	private endSpaced(bracket?: number): void {
		if (this.spaced === undefined) return;
		const { open, end } = this.spaced;
		this.spaced = undefined;
		const isImage = endsLikeImage(this.text.slice(open.start, end));
		const rest = isImage ? 0 : addressLength(this.text.slice(end, bracket ?? end));
		this.close(open, end + rest);
	}

	private close(open: Open | undefined, end: number): void {
		if (open === undefined || end <= open.start) return;
		const { start, isImage } = open;
		const address = this.text.slice(start, end);
		const found = isImage ? this.images : this.links;
		if (found.length < maxFoundImages) found.push({ place: start, start, end, address });
	}

	/** `![text][name]`, `![name][]` or `![name]`, whose link is written elsewhere. */
	private readReference(bracket: Open | undefined, index: number): void {
		if (!bracket?.isImage || this.definitions.size === 0) return;
		const { start } = bracket;
		const label = new RegExp(`\\[([^[\\]]{1,${maxLabelLength}})\\]`, 'y');
		label.lastIndex = index + 1;
		const own = index - start > maxLabelLength ? '' : this.text.slice(start, index);
		const name = labelOf(label.exec(this.text)?.[1] ?? own);
		const found = this.definitions.get(name);
		// Each is one image, however often the text shows it.
		if (found && this.definitions.delete(name)) this.images.push({ ...found, place: start });
	}
}

/** The links of `[name]: https://…`, each in a line of its own. */
function definitionsIn(text: string): Map<string, Found> {
	if (!text.includes('![')) return new Map();
	const lines = text.matchAll(/^[ \t]{0,3}\[([^[\]]{1,200})\]:[ \t]*(?:<([^<>]*)>|(\S+))/gm);
	const found = [...first(maxFoundImages, lines)].map(
		({ index, 0: line, 1: label, 2: angled, 3: plain }) => {
			const address = angled ?? plain;
			const end = index + line.length - (angled === undefined ? 0 : 1);
			return [labelOf(label), { start: end - address.length, end, address }] as const;
		},
	);
	return new Map(found.reverse());
}

const labelOf = (label: string) => label.replace(/\s+/g, ' ').trim().toLowerCase();

/** How much of what follows a space in an address belongs to the address: none of a title does. */
function addressLength(text: string): number {
	const quote = text.at(-1) ?? '';
	const opening = quote === ')' ? '(' : quote;
	const title = /["')]/.test(quote) ? text.lastIndexOf(opening, text.length - 2) : text.length;
	const rest = text.slice(0, Math.max(title, 0)).trimEnd();
	const isLink = !/[<>]|:\/\//.test(rest) && (/[=&%/?#]/.test(rest) || endsLikeImage(rest));
	return isLink ? rest.length : 0;
}
