import { isObject } from '../json';
import { entityNames } from '../markup';

/** A shorter key is not redacted: it could be part of an ordinary text. */
const minKeyLength = 8;
const mask = '***';

/** A pattern for a longer text does not compile, so a longer key is redacted piece by piece. */
const maxPieceLength = 512;

/** All ways to write one character of the key, in lower case, since letter case is ignored. None is longer than 20. */
type Letter = readonly string[];
const maxSpelling = 20 * maxPieceLength;

/** Nobody sees such a character within the key, and messages leave it out, so that the key would be whole again. */
const hidden = '(?:[\\p{Cf}\\p{VS}]|&#(?:8203|x200b);)?';
const hiddenAt = new RegExp(hidden, 'iuy');

/** Removes the API key from responses: services echo keys, and none may reach an output, an error or a log. */
export class Redaction {
	/** Of the key as it is, and as it appears in the base64 of a longer text. */
	private readonly spellings: Letter[][];
	private readonly pattern: RegExp | undefined;

	constructor(key: string) {
		this.spellings = piecesOf(key).flatMap((piece) => [
			[...piece].map(waysToWrite),
			...base64Of(piece).map((text) => [...text].map(waysToWriteBase64)),
		]);
		const sources = this.spellings.map((spelling) => spelling.map(patternOf).join(hidden));
		this.pattern = sources.length === 0 ? undefined : new RegExp(sources.join('|'), 'giu');
	}

	text(text: string): string {
		return this.pattern && text.length >= minKeyLength ? text.replace(this.pattern, mask) : text;
	}

	/** The value without the key; the same object when it does not contain the key. */
	json<T>(value: T): T;
	json(value: unknown): unknown {
		if (typeof value === 'string') return this.text(value);
		if (Array.isArray(value)) {
			const clean = value.map((entry: unknown) => this.json(entry));
			return clean.some((entry, at) => entry !== value[at]) ? clean : value;
		}
		if (!isObject(value)) return value;
		const [names, entries] = [Object.keys(value), Object.values(value)];
		const [cleanNames, cleanEntries] = [this.json(names), this.json(entries)];
		if (cleanNames === names && cleanEntries === entries) return value;
		return Object.fromEntries(cleanNames.map((name, at) => [name, cleanEntries[at]]));
	}

	/** Whether a redacted text contained the key. */
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

	/** How many characters at the end may be the beginning of the key. */
	private partialKeyLength(text: string): number {
		// ASCII letters only: others may change their length with their case.
		const tail = text.slice(-maxSpelling).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
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

const patternOf = (letter: Letter) => `(?:${letter.map(escaped).join('|')})`;

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** As it is, percent-encoded and in a string of JSON, each once or twice, and as an HTML entity. */
function waysToWrite(letter: string): Letter {
	const hexOf = (number: number, digits: number) => number.toString(16).padStart(digits, '0');
	const bytes = [...Buffer.from(letter)].map((byte) => hexOf(byte, 2));
	const units = [...Array(letter.length).keys()].map((at) => hexOf(letter.charCodeAt(at), 4));
	const inUrl = ['%', '%25'].map((percent) => bytes.map((byte) => percent + byte).join(''));
	const inJson = ['\\', '\\\\', '\\\\\\'].flatMap((backslashes) => [
		units.map((unit) => `${backslashes}u${unit}`).join(''),
		...('"\\/'.includes(letter) ? [backslashes + letter] : []),
	]);
	const code = letter.codePointAt(0) ?? 0;
	const numbers = [`#${code}`, `#0${code}`, `#x${code.toString(16)}`, `#x0${code.toString(16)}`];
	const entities = [...numbers, entityNames[letter] ?? []].flat().map((name) => `&${name};`);
	return [letter.toLowerCase(), ...inUrl, ...inJson, ...entities];
}

/** base64url replaces two characters of base64. */
function waysToWriteBase64(letter: string): Letter {
	if (letter === '+') return [...waysToWrite(letter), '-'];
	if (letter === '/') return [...waysToWrite(letter), '_'];
	return [letter.toLowerCase()];
}

/** The base64 characters of the key that do not depend on the bytes around it, for each of its three offsets. */
function base64Of(key: string): string[] {
	return [0, 1, 2].map((offset) => {
		const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key)]);
		const keyRange = [Math.ceil((8 * offset) / 6), Math.floor((8 * bytes.length) / 6)] as const;
		return bytes.toString('base64').slice(...keyRange);
	});
}

/** Whether the text from `start` to its end is the beginning of this spelling, in any encoding. */
function isPrefixOfSpelling(text: string, start: number, spelling: readonly Letter[]): boolean {
	let reached = new Set([start]);
	for (const letter of spelling) {
		const next = new Set<number>();
		for (const at of reached) {
			for (const written of letter) {
				if (text.startsWith(written, at)) next.add(endOfHidden(text, at + written.length));
				else if (at + written.length > text.length && written.startsWith(text.slice(at)))
					return true;
			}
		}
		if (next.size === 0) return false;
		reached = next;
	}
	return false;
}

function endOfHidden(text: string, start: number): number {
	hiddenAt.lastIndex = start;
	hiddenAt.test(text);
	return hiddenAt.lastIndex;
}
