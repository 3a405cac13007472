/** Images of a response that is no JSON. */
import { asText, isObject, parseJson, type JsonObject } from '../json';
import { maxChoices, maxFoundImages, maxImageLines, maxTextTokens } from '../protocol/bounds';
import { addressIn } from './entries';

/** In characters: an event with an image has more. */
const minEventLength = 40;

/** The finished images in a stream of events, each with its own fields. */
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

/** Behind comments, with which a server keeps its connection alive. */
const firstCharacter = /^[^\S\r\n\u2028\u2029]*([^:\s])/m;
/** A field of JSON with a text. */
const namedText = /"(\w{1,50})"\s{0,9}:\s{0,9}("[^"\\]*(?:\\[^][^"\\]*)*")/g;

/** The images in JSON that broke off, or that has other text around it: they are made and charged. */
export function imagesInPart(text: string): JsonObject | undefined {
	const [, first = ''] = firstCharacter.exec(text) ?? [];
	if (!/[[{]/.test(first) || /"error"\s{0,9}:\s{0,9}[{"]/.test(text)) return undefined;
	const images: JsonObject[] = [];
	let imageName: string | undefined;
	let tokens = 0;
	for (const [, name, value] of text.matchAll(namedText)) {
		// An image may have both a link and its bytes.
		if (name !== (imageName ?? name) || value.length < minLength) continue;
		if (tokens++ === maxTextTokens) break;
		const entry = { [name]: parseJson(value) };
		if (addressIn(entry) === undefined) continue;
		imageName = name;
		if (images.push(entry) === maxFoundImages) break;
	}
	return images.length > 0 ? { data: images } : undefined;
}

/** The content of each answer in JSON that broke off, as a completion. */
export function answerInPart(text: string): JsonObject | undefined {
	const contents = [...text.matchAll(contentText)].slice(0, maxChoices).map(([, content, end]) => {
		const whole = end === '"' ? content : content.replace(/\\(?:u[\da-f]{0,3})?$/i, '');
		return asText(parseJson(`"${whole}"`)) ?? '';
	});
	return contents.some((content) => content.trim() !== '')
		? { choices: contents.map((content) => ({ message: { content } })) }
		: undefined;
}

const contentText = /"content"\s{0,9}:\s{0,9}"([^"\\]*(?:\\[^][^"\\]*)*)(\\|"|$)/g;

/** In characters with its quotes: no link to an image is shorter. */
const minLength = 12;
