import { completion, textOf } from '../chat/completion';
import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { asText, excerpt, isObject, textAt, valueAt, type JsonObject } from '../json';
import { asLink } from '../links';
import { markdownImages } from './markdown';

/** One picture of an answer: a link to it, or the picture itself. */
export interface Image {
	url?: string;
	bytes?: Buffer;
	/** What the answer calls the bytes. */
	mimeType?: string;
	/** What else the answer says of it. */
	fields: JsonObject;
}

export interface ImageResult {
	pictures: Image[];
	/** Entries that no picture could be read from. */
	missing: unknown[];
	/** The rest of it, as it came. */
	text?: string;
	model?: unknown;
	usage?: unknown;
	request_id?: unknown;
}

/** The pictures of "Endpoints" 8 and 9. Only `data[0].url` is shown; base64 and data URLs are taken too. */
export function readImages(answer: ServiceResponse): ImageResult {
	const lists = ['data', 'images', 'output.results', 'data.data'];
	const entries = lists
		.map((path) => valueAt(answer.json, path))
		.find((list) => Array.isArray(list) && list.length > 0) as unknown[] | undefined;
	const found = read(entries ?? [], answer);
	if (found.pictures.length === 0)
		throw new UnusableResponse(`has no picture: ${describeBody(answer)}`);
	return found;
}

function read(entries: unknown[], { url, requestId }: ServiceResponse): ImageResult {
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
	if (base64 !== undefined) return embedded(base64, fields);
	return linked(textAt(fields, 'url', 'image_url', 'image_url.url') ?? '', fields, base);
}

function linked(text: string, fields: JsonObject, base: string): Image | undefined {
	if (/^data:/i.test(text)) {
		return embedded(text, { ...fields, url: undefined, image_url: undefined });
	}
	const url = asLink(text, base);
	return url === undefined ? undefined : { url, fields: { ...fields, url } };
}

/** Base64, or a data URL. Undefined when there is not a byte of it. */
function embedded(data: string, fields: JsonObject): Image | undefined {
	const [, mimeType, body] = /^(?:data:([^,]*),)?(.*)$/is.exec(data) ?? [];
	const isBase64 = mimeType === undefined || /;base64$/i.test(mimeType);
	const bytes = isBase64
		? Buffer.from(body, 'base64')
		: Buffer.from(unescape(Buffer.from(body).toString('latin1')), 'latin1');
	return bytes.length === 0 ? undefined : { bytes, mimeType, fields };
}

/** The pictures and the text of "Endpoints" 10. @throws Unusable, with the text, when there is no picture */
export function readChatImages(answer: ServiceResponse): ImageResult {
	const { choices, model, usage } = completion(answer);
	const messages = choices.map(({ message }) => message);
	const text = messages
		.map(textOf)
		.join('\n\n')
		// Base64 that is wrapped into lines; an address ends at the first of them.
		.replace(/(?<=\(\s*<?data:image\/[^,()\s]*,)[\w+/=\s-]+([)>]|(?=["'(]))/g, (base64) =>
			base64.replace(/(?<!\s)\s+(?=\S)/g, ''),
		);
	const parts = messages.flatMap(({ content, images }) => [content, images].flat() as unknown[]);
	const images = parts.filter((part) => valueAt(part, 'image_url'));
	const found = read([...markdownImages(text), ...images], answer);
	if (found.pictures.length === 0) {
		throw new UnusableResponse(`has no picture, only this text: ${excerpt(text, 500)}`, text);
	}
	// A picture inside the text becomes a file; as text it would fill the execution's log.
	const shown = text.replace(/\(\s*<?(data:image)\/[^()<>\s]*>?/g, '($1');
	return { text: shown, model, usage, ...found };
}
