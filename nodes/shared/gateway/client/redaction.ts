/** A shorter key could be part of an ordinary text, so it is not redacted. */
const minKeyLength = 8;
const mask = '***';

/** Removes the API key from responses: services echo keys, and none may reach an output, an error or a log. */
export class Redaction {
	private readonly spellings: string[];

	constructor(key: string) {
		// JSON may escape a slash as \/, and a URL percent-encodes the key.
		const base64 = Buffer.from(key)
			.toString('base64')
			.replace(/={1,2}$/, '');
		const spellings = [key, key.replaceAll('/', '\\/'), encodeURIComponent(key), base64];
		this.spellings = key.length < minKeyLength ? [] : [...new Set(spellings)];
	}

	text(text: string): string {
		return this.spellings.reduce((clean, spelling) => clean.replaceAll(spelling, mask), text);
	}

	/** For JSON assembled from several texts, over which the key may have been split. */
	json<T>(value: T): T {
		const text = JSON.stringify(value) ?? '';
		const clean = this.text(text);
		return clean === text ? value : (JSON.parse(clean) as T);
	}

	/** For a text that arrives in chunks: an end that may be the beginning of the key is held back until more has arrived. */
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

	/** The number of characters at the end that may be the beginning of the key. */
	private partialKeyLength(text: string): number {
		const lengths = this.spellings.map((spelling) => {
			for (let length = Math.min(spelling.length - 1, text.length); length > 0; length--) {
				if (text.endsWith(spelling.slice(0, length))) return length;
			}
			return 0;
		});
		return Math.max(0, ...lengths);
	}
}
