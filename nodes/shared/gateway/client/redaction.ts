/** Shorter keys are words of ordinary texts. */
const minKeyLength = 8;
const mask = '***';

/** Takes the API key out of what the service says: services echo keys, and none may reach an output, an error or a log. */
export class Redaction {
	private readonly spellings: string[];

	constructor(key: string) {
		// JSON may spell a slash as \/, and an address has it in its own way.
		const spellings = [key, key.replaceAll('/', '\\/'), encodeURIComponent(key)];
		this.spellings = key.length < minKeyLength ? [] : [...new Set(spellings)];
	}

	text(text: string): string {
		return this.spellings.reduce((clean, spelling) => clean.replaceAll(spelling, mask), text);
	}

	/** JSON that was put together of several texts: its key may have come in pieces. */
	json<T>(value: T): T {
		const text = JSON.stringify(value) ?? '';
		const clean = this.text(text);
		return clean === text ? value : (JSON.parse(clean) as T);
	}

	/** A text that comes in pieces, wherever it is cut: what may begin a key is held back until more is known. */
	stream(): { push(piece: string): string; end(): string } {
		let held = '';
		return {
			push: (piece) => {
				const text = this.text(held + piece);
				held = text.slice(text.length - this.partialKeyLength(text));
				return text.slice(0, text.length - held.length);
			},
			end: () => this.truncated(held),
		};
	}

	/** A text that broke off, perhaps within the key. */
	truncated(text: string): string {
		const clean = this.text(text);
		const begun = this.partialKeyLength(clean);
		return begun < minKeyLength ? clean : clean.slice(0, -begun) + mask;
	}

	/** How many characters at the end may be the beginning of a key. */
	private partialKeyLength(text: string): number {
		const begun = this.spellings.map((spelling) => {
			for (let length = Math.min(spelling.length - 1, text.length); length > 0; length--) {
				if (text.endsWith(spelling.slice(0, length))) return length;
			}
			return 0;
		});
		return Math.max(0, ...begun);
	}
}
