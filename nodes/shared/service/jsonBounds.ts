import { maxDepth, maxNames, responseBounds } from './protocol/bounds';

/** The cost in time and memory to parse a comma, as between numbers, and a list, object, text or name. */
const weights = { value: 1, part: 8 };

/** A denser text takes long to parse for its length. The response to a chat with alternatives weighs 1.3 per character. */
const [freeWeight, weightPerCharacter] = [500_000, 1.5];

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
/** Most characters of a number are between these: - . / and all digits. */
const [minus, nine] = [0x2d, 0x39];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Judges whether a JSON text, valid or not, can be parsed without blocking n8n or filling its memory. Its chunks may be
 * cut anywhere.
 */
export class JsonBounds {
	weight = 0;
	private characters = 0;
	private isInText = false;
	private isEscaped = false;
	/** How many names each open list or object has so far; the first is outside of all. */
	private readonly names = [0];

	constructor(private readonly maxWeight: number = responseBounds.text.weight) {}

	accepts(chunk: string): boolean {
		const { names, characters, maxWeight } = this;
		let { weight } = this;
		for (let at = this.isInText ? this.textEnd(chunk, 0) + 1 : 0; at < chunk.length; at++) {
			const code = chunk.charCodeAt(at);
			if (code >= minus && code <= nine) continue;
			if (code === comma) weight += weights.value;
			else if (code === colon && ++names[names.length - 1] > maxNames) return false;
			else if (code === closeList || code === closeObject) {
				if (names.length > 1) names.pop();
			} else if (code === quote || code === openList || code === openObject) {
				weight += weights.part;
				if (code !== quote && names.push(0) > maxDepth + 1) return false;
			} else continue;
			if (weight > maxWeight || weight > freeWeight + weightPerCharacter * (characters + at))
				return false;
			if (code === quote) at = this.textEnd(chunk, at + 1);
		}
		this.weight = weight;
		this.characters += chunk.length;
		return true;
	}

	private textEnd(chunk: string, start: number): number {
		const at = endOfText(chunk, this.isEscaped ? start + 1 : start);
		this.isInText = at >= chunk.length;
		this.isEscaped = at > chunk.length;
		return at;
	}
}

/** The position of the quote that ends a text; the length of the JSON, or one more after a backslash, if none does. */
function endOfText(json: string, start: number): number {
	let at = start;
	for (; at < json.length; at++) {
		const code = json.charCodeAt(at);
		if (code === backslash) at++;
		else if (code === quote) break;
	}
	return at;
}
