import { entityNames } from '../markup';

/** A shorter key could be part of an ordinary text, so it is not redacted. */
const minKeyLength = 8;
const mask = '***';

/** A pattern for a longer text does not compile, so a longer key is redacted piece by piece. */
const maxPieceLength = 512;

/** All encodings of one character of the key, in lower case, since letter case is ignored. */
interface Encodings {
	texts: string[];
	/** Matches each of the texts. */
	pattern: string;
}

/** Maximum number of nested URL encodings that are recognised. */
const maxLevels = 3;

/** Maximum number of leading zeros of an HTML entity that are recognised. */
const maxZeros = 8;

/** Removes the API key from responses: services echo keys, and none may reach an output, an error or a log. */
export class Redaction {
	/** The key as it is, and as it appears in the base64 of a longer text. */
	private readonly spellings: Encodings[][];
	private readonly pattern: RegExp | undefined;
	/** Maximum length of a spelling, in characters. */
	private readonly maxLength: number;

	constructor(key: string) {
		this.spellings = piecesOf(key).flatMap((piece) => [
			[...piece].map((letter) => encodingsOf(letter)),
			...base64Of(piece).map((text) => [...text].map(base64LetterEncodings)),
		]);
		const source = this.spellings
			.map((spelling) => spelling.map(({ pattern }) => pattern).join(''))
			.join('|');
		this.pattern = source === '' ? undefined : new RegExp(source, 'gi');
		const lengths = this.spellings.map((spelling) =>
			spelling.reduce((sum, encodings) => sum + Math.max(...encodings.texts.map(lengthOf)), 0),
		);
		this.maxLength = Math.max(0, ...lengths);
	}

	text(text: string): string {
		return this.pattern && text.length >= minKeyLength ? text.replace(this.pattern, mask) : text;
	}

	/** The value without the key; the same object when it does not contain the key. */
	json<T>(value: T): T {
		return this.redacted(value) as T;
	}

	/** Whether a text, such as a link, contained the key before it was redacted. */
	static isMasked(text: string): boolean {
		return text.includes(mask);
	}

	/** For a text that arrives in chunks: an end that may be the beginning of the key waits for the next chunk. */
	stream(): { push(chunk: string): string; end(): string } {
		let pending = '';
		return {
			push: (chunk) => {
				const text = this.text(pending + chunk);
				pending = text.slice(text.length - this.partialKeyLength(text));
				return text.slice(0, text.length - pending.length);
			},
			end: () => this.truncated(pending),
		};
	}

	/** For a text that broke off, perhaps in the middle of the key. */
	truncated(text: string): string {
		const clean = this.text(text);
		const partialLength = this.partialKeyLength(clean);
		return partialLength < minKeyLength ? clean : clean.slice(0, -partialLength) + mask;
	}

	private redacted(value: unknown): unknown {
		if (typeof value === 'string') return this.text(value);
		if (typeof value !== 'object' || value === null) return value;
		if (Array.isArray(value)) return this.redactedList(value);
		const names = Object.keys(value);
		const cleanNames = this.redactedList(names);
		const entries = Object.values(value);
		const cleanEntries = this.redactedList(entries);
		if (cleanNames === names && cleanEntries === entries) return value;
		return Object.fromEntries(names.map((_, index) => [cleanNames[index], cleanEntries[index]]));
	}

	/** Copies nothing but what has the key: a list of numbers may have millions of them. */
	private redactedList(list: unknown[]): unknown[] {
		let clean: unknown[] | undefined;
		list.forEach((entry, index) => {
			const cleanEntry = this.redacted(entry);
			if (cleanEntry === entry) return;
			clean ??= [...list];
			clean[index] = cleanEntry;
		});
		return clean ?? list;
	}

	/** The number of characters at the end that may be the beginning of the key. */
	private partialKeyLength(text: string): number {
		// ASCII letters only: others may change their length with their case.
		const tail = text.slice(-this.maxLength).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
		for (let start = 0; start < tail.length; start++) {
			if (this.spellings.some((spelling) => isPrefixOfSpelling(tail, start, spelling))) {
				return tail.length - start;
			}
		}
		return 0;
	}
}

function piecesOf(key: string): string[] {
	if (key.length < minKeyLength) return [];
	const count = Math.ceil(key.length / maxPieceLength);
	const length = Math.ceil(key.length / count);
	return [...Array(count).keys()].map((index) => key.slice(index * length, (index + 1) * length));
}

const lengthOf = ({ length }: string) => length;

/** @param others more ways to write the character */
function encodingsOf(letter: string, others: string[] = []): Encodings {
	const hexOf = (number: number, digits: number) => number.toString(16).padStart(digits, '0');
	const bytes = [...Buffer.from(letter)].map((byte) => hexOf(byte, 2));
	const units = [...Array(letter.length).keys()].map((at) => hexOf(letter.charCodeAt(at), 4));
	const levels = [...Array(maxLevels).keys()];
	const inUrl = levels.map((level) =>
		bytes.map((byte) => `%${'25'.repeat(level)}${byte}`).join(''),
	);
	// JSON within JSON doubles each backslash, and adds one before a quote.
	const inJson = [1, 2, 3, 4, 7].flatMap((count) => {
		const backslashes = '\\'.repeat(count);
		const inUnits = units.map((unit) => `${backslashes}u${unit}`).join('');
		return '"\\/'.includes(letter) ? [inUnits, backslashes + letter] : [inUnits];
	});
	const entities = entitiesOf(letter);
	const texts = [...others, letter.toLowerCase(), ...inUrl, ...inJson];
	return {
		texts: [...texts, ...entities.texts],
		pattern: `(?:${[...texts.map(escaped), entities.pattern].join('|')})`,
	};
}

/** The HTML entities of a character. The semicolon at their end may be missing. */
function entitiesOf(letter: string): Encodings {
	const code = letter.codePointAt(0) ?? 0;
	const names = entityNames[letter] ?? [];
	const numbers = [`${code}`, `x${code.toString(16)}`];
	const zeros = [...Array(maxZeros + 1).keys()].map((count) => '0'.repeat(count));
	const withZeros = numbers.flatMap((number) =>
		zeros.map((some) => `#${number.replace(/^x?/, (x) => x + some)}`),
	);
	const patterns = numbers.map((number) => number.replace(/^x?/, `#$&0{0,${maxZeros}}`));
	return {
		texts: [...withZeros, ...names].flatMap((name) => [`&${name};`, `&${name}`]),
		// A semicolon is taken whenever it is there: with a choice, a key of semicolons would take exponential time.
		pattern: `&(?:${[...patterns, ...names].join('|')})(?:;|(?!;))`,
	};
}

/** The base64 characters of the key that do not depend on the bytes around it, for each of its three offsets. */
function base64Of(key: string): string[] {
	return [0, 1, 2].map((offset) => {
		const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]);
		const keyRange = [Math.ceil((8 * offset) / 6), Math.floor((8 * bytes.length) / 6)] as const;
		return bytes.toString('base64').slice(...keyRange);
	});
}

/** base64url replaces two characters of base64. */
function base64LetterEncodings(letter: string): Encodings {
	if (letter === '+') return encodingsOf(letter, ['-']);
	if (letter === '/') return encodingsOf(letter, ['_']);
	const text = letter.toLowerCase();
	return { texts: [text], pattern: text };
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** Whether a text, from `start` to its end, is the beginning of this spelling, in any encoding. */
function isPrefixOfSpelling(text: string, start: number, spelling: Encodings[]): boolean {
	let reached = new Set([start]);
	for (const { texts } of spelling) {
		const next = new Set<number>();
		for (const at of reached) {
			for (const encoding of texts) {
				if (text.startsWith(encoding, at)) next.add(at + encoding.length);
				else if (at + encoding.length > text.length && encoding.startsWith(text.slice(at)))
					return true;
			}
		}
		if (next.size === 0) return false;
		reached = next;
	}
	return false;
}
