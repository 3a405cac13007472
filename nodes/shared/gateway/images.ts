import { asLink, complaint } from './answers';
import { completion, textOf } from './chat';
import { asText, excerpt, isObject, valueAt, type JsonObject } from './json';
import { markdownImages } from './markdown';
import { Unusable, type Answer } from './transport';

/** One picture of an answer: a link to it, or the picture itself. */
export interface Picture {
	url?: string;
	bytes?: Buffer;
	/** What the answer calls the bytes. */
	mimeType?: string;
	/** What else the answer says of it. */
	fields: JsonObject;
}

export interface PictureAnswer {
	pictures: Picture[];
	/** The rest of it, as it came. */
	text?: string;
	model?: unknown;
	usage?: unknown;
	request_id?: unknown;
}

/** The pictures of "Endpoints" 8 and 9. Only `data[0].url` is shown; base64 and data URLs are taken too. */
export function picturesOf(answer: Answer): PictureAnswer {
	const lists = ['data', 'images', 'output.results', 'data.data'];
	const entries = lists
		.map((path) => valueAt(answer.json, path))
		.find((list) => Array.isArray(list) && list.length > 0) as unknown[] | undefined;
	const found = (entries ?? []).flatMap((entry) => pictureOf(entry) ?? []);
	if (found.length === 0) throw new Unusable(`has no picture: ${complaint(answer)}`);
	return { pictures: found, request_id: answer.requestId };
}

function pictureOf(entry: unknown): Picture | undefined {
	if (typeof entry === 'string') return linked(entry, {});
	if (!isObject(entry)) return undefined;
	const { b64_json, image_base64, ...fields } = entry;
	const base64 = asText(b64_json) ?? asText(image_base64);
	if (base64 !== undefined) return embedded(base64, fields);
	const url =
		asText(entry.url) ?? asText(entry.image_url) ?? asText(valueAt(entry, 'image_url.url'));
	return url === undefined ? undefined : linked(url, fields);
}

function linked(url: string, fields: JsonObject): Picture | undefined {
	if (/^data:.*;base64,/i.test(url)) {
		return embedded(url, { ...fields, url: undefined, image_url: undefined });
	}
	return asLink(url) === undefined ? undefined : { url, fields };
}

/** Base64, or a data URL of it. Undefined when there is not a byte of it. */
function embedded(data: string, fields: JsonObject): Picture | undefined {
	const [, mimeType, base64] = /^(?:data:([^,]*),)?(.*)$/is.exec(data) ?? [];
	const bytes = Buffer.from(base64, 'base64');
	return bytes.length === 0 ? undefined : { bytes, mimeType, fields };
}

/** The pictures and the text of "Endpoints" 10. @throws Unusable, with the text, when there is no picture */
export function chatPictures(answer: Answer): PictureAnswer {
	const { choices, model, usage, request_id } = completion(answer);
	const messages = choices.map(({ message }) => message);
	const text = messages
		.map(textOf)
		.join('\n\n')
		// Base64 that is wrapped into lines; an address ends at the first of them.
		.replace(/(?<=\(\s*<?data:image\/[^,()\s]*,)[\w+/=\s-]+([)>]|(?=["'(]))/g, (base64) =>
			base64.replace(/(?<!\s)\s+(?=\S)/g, ''),
		);
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
	const shown = text.replace(/\(\s*<?(data:image)\/[^()<>\s]*>?/g, '($1');
	return { text: shown, pictures: found, model, usage, request_id };
}
