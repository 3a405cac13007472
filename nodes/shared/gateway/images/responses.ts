import { completion, textOf } from '../chat/completion';
import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { asText, excerpt, isObject, textAt, valueAt, type JsonObject } from '../json';
import { asLink } from '../links';
import { markdownImages } from './markdown';

/** One image of a response: a link to it, or its bytes. */
export interface Image {
	url?: string;
	bytes?: Buffer;
	/** The MIME type that a data URL declares. */
	mimeType?: string;
	/** The other fields of its entry. */
	fields: JsonObject;
}

export interface ImageResult {
	pictures: Image[];
	/** Entries from which no image could be read. */
	missing: unknown[];
	/** The text around the images. */
	text?: string;
	model?: unknown;
	usage?: unknown;
	request_id?: unknown;
}

/**
 * The images of "Endpoints" 8 and 9. The specification shows only `data[0].url`; base64 and data URLs are accepted
 * too.
 * @throws UnusableResponse when there is no image
 */
export function readImages(response: ServiceResponse): ImageResult {
	const lists = ['data', 'images', 'output.results', 'data.data'];
	const entries = lists
		.map((path) => valueAt(response.json, path))
		.find((list) => Array.isArray(list) && list.length > 0) as unknown[] | undefined;
	const result = readEntries(entries ?? [], response);
	if (result.pictures.length === 0)
		throw new UnusableResponse(`has no picture: ${describeBody(response)}`);
	return result;
}

function readEntries(entries: unknown[], { url, requestId }: ServiceResponse): ImageResult {
	const found = entries.map((entry) => readImage(entry, url));
	return {
		pictures: found.filter((picture) => picture !== undefined),
		missing: entries.filter((_, index) => !found[index]),
		request_id: requestId,
	};
}

function readImage(entry: unknown, base: string): Image | undefined {
	const { b64_json, image_base64, ...fields } = isObject(entry) ? entry : { url: entry };
	const base64 = asText(b64_json) ?? asText(image_base64);
	if (base64 !== undefined) return embeddedImage(base64, fields);
	return linkedImage(textAt(fields, 'url', 'image_url', 'image_url.url') ?? '', fields, base);
}

function linkedImage(text: string, fields: JsonObject, base: string): Image | undefined {
	if (/^data:/i.test(text)) {
		return embeddedImage(text, { ...fields, url: undefined, image_url: undefined });
	}
	const url = asLink(text, base);
	return url === undefined ? undefined : { url, fields: { ...fields, url } };
}

/** An image from base64 or a data URL; undefined when it is empty. */
function embeddedImage(data: string, fields: JsonObject): Image | undefined {
	const [, mimeType, body] = /^(?:data:([^,]*),)?(.*)$/is.exec(data) ?? [];
	const isBase64 = mimeType === undefined || /;base64$/i.test(mimeType);
	const bytes = isBase64
		? Buffer.from(body, 'base64')
		: Buffer.from(unescape(Buffer.from(body).toString('latin1')), 'latin1');
	return bytes.length === 0 ? undefined : { bytes, mimeType, fields };
}

/** The images and the text of "Endpoints" 10. @throws UnusableResponse, with the text, when there is no image */
export function readChatImages(response: ServiceResponse): ImageResult {
	const { choices, model, usage } = completion(response);
	const messages = choices.map(({ message }) => message);
	const text = messages
		.map(textOf)
		.join('\n\n')
		// Base64 may be wrapped into lines; a URL in Markdown ends at the first line break, so these are removed.
		.replace(/(?<=\(\s*<?data:image\/[^,()\s]*,)[\w+/=\s-]+([)>]|(?=["'(]))/g, (base64) =>
			base64.replace(/(?<!\s)\s+(?=\S)/g, ''),
		);
	const parts = messages.flatMap(({ content, images }) => [content, images].flat() as unknown[]);
	const images = parts.filter((part) => valueAt(part, 'image_url'));
	const result = readEntries([...markdownImages(text), ...images], response);
	if (result.pictures.length === 0) {
		throw new UnusableResponse(`has no picture, only this text: ${excerpt(text, 500)}`, text);
	}
	// An image embedded in the text becomes a file; left in the text, it would fill the execution's log.
	const shownText = text.replace(/\(\s*<?(data:image)\/[^()<>\s]*>?/g, '($1');
	return { text: shownText, model, usage, ...result };
}
