/** Images of a response that is no JSON. */
import { asText, isObject, parseJson, type JsonObject } from '../json';
import { maxFoundImages, maxImageLines } from '../protocol/bounds';
import { addressIn } from './entries';

/** In characters of an event: one with an image has more. */
const minEventLength = 40;

/** The images in a stream of events, each with its own fields; those that are not finished are left out. */
export function streamedImages(text: string): JsonObject | undefined {
	const lines = text.split('\n', maxImageLines);
	const events = lines
		.filter((line) => line.startsWith('data:') && line.length >= minEventLength)
		.map((line) => parseJson(line.slice('data:'.length)))
		.filter(isObject)
		.filter(({ type }) => !/partial_image$/.test(asText(type) ?? ''));
	if (events.length === 0) return undefined;
	const images = events.filter((event) => addressIn(event) !== undefined || event.error);
	if (images.length === 0) return Object.assign({}, ...events) as JsonObject;
	const others = events.filter((event) => !images.includes(event));
	return { ...(Object.assign({}, ...others) as JsonObject), data: images };
}

/** JSON that may begin behind comments, with which a server keeps its connection alive. */
const jsonBegins = /^\ufeff?\s*(?::[^\n]*\n\s*)*[[{]/;
const namedText = /"(\w{1,50})"\s*:\s*("[^"\\]*(?:\\[^][^"\\]*)*")/g;

/** The images in JSON that broke off, or that has other text around it: they are made and charged. */
export function imagesInPart(text: string): JsonObject | undefined {
	if (!jsonBegins.test(text) || /"error"\s*:\s*[{"]/.test(text)) return undefined;
	const images: JsonObject[] = [];
	let imageName: string | undefined;
	for (const [, name, value] of text.matchAll(namedText)) {
		const entry = { [name]: parseJson(value) };
		// An image may have both a link and its bytes.
		const isImage = name === (imageName ?? name) && addressIn(entry) !== undefined;
		if (!isImage) continue;
		imageName = name;
		if (images.push(entry) === maxFoundImages) break;
	}
	return images.length > 0 ? { data: images } : undefined;
}
