/** An address in a text: a link, a data URL, or base64. */
export interface Found {
	/** Where the address is in the text. */
	start: number;
	end: number;
	/** As it is meant: in HTML, an address is written with entities. */
	address: string;
}

/** The first of these, as many as are wanted: of a hostile text, there are millions. */
export function* first<T>(count: number, all: Iterable<T>): Generator<T, void, undefined> {
	let given = 0;
	for (const one of all) {
		if (given++ === count) return;
		yield one;
	}
}

const ending = /.\.(png|jpe?g|webp|gif|avif|svg|bmp|tiff?|hei[cf]|jxl|jp2)(?!\.?\w)/i;

/** Whether a link looks like that of an image. */
export const endsLikeImage = (link: string) => ending.test(link.replace(/^https?:\/\//i, ''));
