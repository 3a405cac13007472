import { completion, textOf, type Choice } from '../chat/completion';
import {
	bodyFields,
	linkCarriedKey,
	describeBody,
	UnusableResponse,
	type ServiceResponse,
} from '../client/response';
import {
	asText,
	excerpt,
	isObject,
	textAt,
	valueAt,
	without,
	withoutUndefined,
	type JsonObject,
} from '../json';
import { asLink } from '../links';
import { finishReasons } from '../protocol/chat';
import { markdownImages } from './markdown';

/** One image of a response: a link to it, or its bytes. */
export interface Image {
	url?: string;
	bytes?: Buffer;
	/** The MIME type that a data URL declares. */
	mimeType?: string;
	/** Set when its link carried the key. */
	linkCarriesKey?: true;
	/** The other fields of its entry. */
	fields: JsonObject;
}

export interface ImageResult {
	images: Image[];
	/** Entries from which no image could be read. */
	missing: unknown[];
	/** The other fields of the response. */
	fields: JsonObject;
	/** For a chat: why each of its answers ended. */
	finishReasons?: unknown[];
}

/** Where the images may be, as a list or a single one; the empty path is the response itself. */
const listPaths = [
	...['data', 'images', 'output.results', 'data.data', 'data.images', 'output.images'],
	...['output', 'results', 'result', 'image', ''],
];

/**
 * The images of "Endpoints" 8 and 9. The specification shows only `data[0].url`; base64 and data URLs are accepted
 * too, and the other fields of the response are kept.
 * @throws UnusableResponse when there is no image
 */
export function readImages(response: ServiceResponse): ImageResult {
	for (const path of listPaths) {
		const found = readEntries(entriesAt(response, path), response);
		if (found.images.length === 0) continue;
		return { ...found, fields: withoutFiles(without(bodyFields(response), path.split('.'))) };
	}
	throw new UnusableResponse(`has no image: ${describeBody(response)}`);
}

function entriesAt({ json }: ServiceResponse, path: string): unknown[] {
	const value = path === '' ? json : valueAt(json, path);
	return Array.isArray(value) ? value : [value];
}

/** The fields without the files among them, which would fill the execution's log. */
function withoutFiles(fields: JsonObject): JsonObject {
	const entries = Object.entries(fields).map(([name, value]) => [name, withoutFile(value)]);
	return withoutUndefined(Object.fromEntries(entries) as JsonObject);
}

/** In characters: no text has as many without a space or a full stop. */
const maxSearchedLength = 10_000;

/** Undefined for a data URL, and for base64 that is long enough to be a file. */
function withoutFile(value: unknown): unknown {
	if (typeof value === 'string') {
		const start = value.slice(0, maxSearchedLength);
		return /^data:[\w.+/;=-]*,|^[\w+/=\r\n-]{2000,}$/i.test(start) ? undefined : value;
	}
	if (isObject(value)) return withoutFiles(value);
	if (!Array.isArray(value)) return value;
	return value.map(withoutFile).filter((entry) => entry !== undefined);
}

function readEntries(
	entries: unknown[],
	response: ServiceResponse,
): Pick<ImageResult, 'images' | 'missing'> {
	const found = entries.map((entry) => readImage(entry, response));
	return {
		images: found.filter((image) => image !== undefined),
		missing: entries.filter((_, index) => !found[index]),
	};
}

function readImage(entry: unknown, response: ServiceResponse): Image | undefined {
	// A list may have millions of other values.
	if (typeof entry !== 'string' && !isObject(entry)) return undefined;
	const { b64_json, image_base64, ...fields } = isObject(entry) ? entry : { url: entry };
	const base64 = asText(b64_json) ?? asText(image_base64);
	if (base64 !== undefined) return embeddedImage(base64, fields);
	return linkedImage(textAt(fields, 'url', 'image_url', 'image_url.url') ?? '', fields, response);
}

function linkedImage(
	text: string,
	fields: JsonObject,
	response: ServiceResponse,
): Image | undefined {
	if (/^data:/i.test(text)) {
		return embeddedImage(text, { ...fields, url: undefined, image_url: undefined });
	}
	const url = asLink(text, response.url);
	if (url !== undefined && linkCarriedKey(url, response))
		return { linkCarriesKey: true, fields: {} };
	return url === undefined ? undefined : { url, fields: withoutFiles({ ...fields, url }) };
}

/** An image from base64 or a data URL; undefined when it is empty. */
function embeddedImage(data: string, fields: JsonObject): Image | undefined {
	const [, mimeType, body] = /^(?:data:([^,]*),)?(.*)$/is.exec(data) ?? [];
	const isBase64 = mimeType === undefined || /;base64$/i.test(mimeType);
	const bytes = isBase64
		? Buffer.from(body, 'base64')
		: Buffer.from(unescape(Buffer.from(body).toString('latin1')), 'latin1');
	return bytes.length === 0 ? undefined : { bytes, mimeType, fields: withoutFiles(fields) };
}

/**
 * The images of "Endpoints" 10, each with the text around it and why its answer ended.
 * @throws UnusableResponse, with the text, when there is no image
 */
export function readChatImages(response: ServiceResponse): ImageResult {
	const whole = completion(response);
	const { choices } = whole;
	const answers = choices.map((choice) => readAnswer(choice, response));
	const result = {
		images: answers.flatMap(({ images }) => images),
		missing: answers.flatMap(({ missing }) => missing),
		fields: withoutFiles({ ...whole, choices: choices.map(withoutEmbeddedFiles) }),
		finishReasons: choices.map(({ finish_reason }) => finish_reason),
	};
	if (result.images.length > 0) return result;
	throw noImageError(answers.map(({ text }) => text).join('\n\n'), result.finishReasons);
}

function readAnswer({ message, finish_reason }: Choice, response: ServiceResponse) {
	const text = unwrapped(textOf(message));
	const parts = [message.content, message.images].flat() as unknown[];
	const imageParts = parts.filter((part) => valueAt(part, 'image_url'));
	const marked = [...markdownImages(text), ...imageParts];
	const entries = marked.length > 0 ? marked : bareLinks(text);
	const { images, missing } = readEntries(entries, response);
	const common = withoutUndefined({ text: withoutEmbedded(text), finish_reason });
	return {
		...{ text, missing },
		images: images.map((image) => ({ ...image, fields: { ...image.fields, ...common } })),
	};
}

/** Base64 may be wrapped into lines; a URL in Markdown ends at the first line break, so these are removed. */
const unwrapped = (text: string) =>
	text.replace(
		/(\(\s*<?data:image\/[^,()\s]*,)([\w+/=\s-]+(?:[)>]|(?=["'(])))/g,
		(token, start: string, base64: string) =>
			/\s/.test(base64) ? start + base64.replace(/(?<!\s)\s+(?=\S)/g, '') : token,
	);

/** An image embedded in the text becomes a file; left in the text, it would fill the execution's log. */
const withoutEmbedded = (text: string) => text.replace(/\(\s*<?(data:image)\/[^()<>\s]*>?/g, '($1');

function withoutEmbeddedFiles({ message, ...choice }: Choice): JsonObject {
	const shown = (value: unknown): unknown => {
		if (typeof value === 'string') return withoutEmbedded(unwrapped(value));
		if (Array.isArray(value)) return value.map(shown);
		return isObject(value) && value.text !== undefined
			? { ...value, text: shown(value.text) }
			: value;
	};
	const { text } = choice;
	return {
		...choice,
		...withoutUndefined({ text: shown(text) }),
		message: { ...message, ...withoutUndefined({ content: shown(message.content) }) },
	};
}

/** For a model that does not write Markdown: the text if it is a link, or the links in it that end like an image. */
function bareLinks(text: string): string[] {
	// A text with a space may be a sentence that begins with a link.
	const link = /\s/.test(text.trim()) ? undefined : asLink(text);
	if (link !== undefined) return [link];
	const links = text.match(/https?:\/\/[^\s<>"')\]]+/gi) ?? [];
	return links.filter((address) => /.\.(png|jpe?g|webp|gif|avif)\b/i.test(address.slice(7)));
}

function noImageError(text: string, reasons: unknown[]): UnusableResponse {
	if (reasons.includes('content_filter')) {
		const problem = `has no image: it was ${finishReasons.content_filter}`;
		return new UnusableResponse(problem, text, undefined, 'moderated');
	}
	const cause = reasons.includes('length')
		? ` (${finishReasons.length}: raise it, or leave it out)`
		: '';
	const words = text.trim() === '' ? ' and no text' : `, only this text: ${excerpt(text, 500)}`;
	return new UnusableResponse(`has no image${cause}${words}`, text);
}
