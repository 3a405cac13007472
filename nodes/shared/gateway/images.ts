import { asLink, complaint } from './answers';
import { completion, textOf } from './chat';
import { asText, excerpt, isObject, valueAt, type JsonObject } from './json';
import { markdownImages } from './markdown';
import { Unusable, type Answer } from './transport';

/** One picture of an answer: a link to it, or the picture itself. */
export interface Picture {
	url?: string;
	bytes?: Uint8Array;
	/** What else the answer says of it. */
	fields: JsonObject;
}

/** The pictures of "Endpoints" 8 and 9. Only `data[0].url` is shown; base64 and data URLs are taken too. */
export function pictures(answer: Answer): Picture[] {
	const lists = ['data', 'images', 'output.results', 'data.data'];
	const entries = lists
		.map((path) => valueAt(answer.json, path))
		.find((list) => Array.isArray(list) && list.length > 0) as unknown[] | undefined;
	const found = (entries ?? []).flatMap((entry) => pictureOf(entry) ?? []);
	if (found.length === 0) throw new Unusable(`has no picture: ${complaint(answer)}`);
	return found;
}

function pictureOf(entry: unknown): Picture | undefined {
	if (typeof entry === 'string') return linked(entry, {});
	if (!isObject(entry)) return undefined;
	const { b64_json, image_base64, ...fields } = entry;
	const base64 = asText(b64_json) ?? asText(image_base64);
	if (base64 !== undefined) return embedded(base64.replace(/^data:[^,]*,/, ''), fields);
	const url =
		asText(entry.url) ?? asText(entry.image_url) ?? asText(valueAt(entry, 'image_url.url'));
	return url === undefined ? undefined : linked(url, fields);
}

function linked(url: string, fields: JsonObject): Picture | undefined {
	const data = /^data:[^,]*;base64,(.*)$/s.exec(url);
	if (data) return embedded(data[1], { ...fields, url: undefined, image_url: undefined });
	return asLink(url) === undefined ? undefined : { url, fields };
}

/** Undefined when there is not a byte of it. */
function embedded(base64: string, fields: JsonObject): Picture | undefined {
	const bytes = Buffer.from(base64, 'base64');
	return bytes.length === 0 ? undefined : { bytes, fields };
}

/** The pictures and the text of "Endpoints" 10. @throws Unusable, with the text, when there is no picture */
export function chatPictures(answer: Answer): {
	text: string;
	pictures: Picture[];
	model?: unknown;
	usage?: unknown;
	request_id?: unknown;
} {
	const { choices, model, usage, request_id } = completion(answer);
	const messages = choices.map(({ message }) => message);
	const text = messages.map(textOf).join('\n\n');
	const parts = messages.flatMap(
		({ content, images }) => [content, images].filter(Array.isArray).flat() as unknown[],
	);
	const found = [
		...markdownImages(text).flatMap((url) => linked(url, { url }) ?? []),
		...parts.filter(isObject).flatMap((part) => (part.image_url ? (pictureOf(part) ?? []) : [])),
	];
	if (found.length === 0) {
		throw new Unusable(`has no picture, only this text: ${excerpt(text, 500)}`, text);
	}
	// A picture inside the text becomes a file; as text it would fill the execution's log.
	const shown = text.replace(/\(data:image\/[^()\s]*\)/g, '(data:image)');
	return { text: shown, pictures: found, model, usage, request_id };
}
