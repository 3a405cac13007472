import {
	anyCompletion,
	brokenAnswer,
	isTextPart,
	partsOf,
	textOf,
	textToShow,
	type Choice,
} from '../chat/completion';
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
import { fileInText } from '../files/dataUrl';
import { asLink } from '../links';
import { maxFoundImages } from '../protocol/bounds';
import { finishReasons } from '../protocol/chat';
import { first, type Found } from './found';
import { imagesIn, isBase64Image, withoutEmbedded } from './textImages';

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

/**
 * The fields without the files among them, which would fill the execution's log. Only what has a file in it is copied: a
 * response may have very many values.
 */
function withoutFiles(fields: JsonObject): JsonObject {
	const names = Object.keys(fields);
	const values = names.map((name) => withoutFile(fields[name]));
	const isSame = names.every((name, at) => values[at] !== undefined && values[at] === fields[name]);
	if (isSame) return fields;
	return withoutUndefined(Object.fromEntries(names.map((name, at) => [name, values[at]])));
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
	const entries = value.map(withoutFile);
	const isSame = entries.every((entry, at) => entry !== undefined && entry === value[at]);
	return isSame ? value : entries.filter((entry) => entry !== undefined);
}

function readEntries(
	entries: unknown[],
	response: ServiceResponse,
): Pick<ImageResult, 'images' | 'missing'> {
	const images: Image[] = [];
	const missing: unknown[] = [];
	for (const entry of entries.slice(0, maxFoundImages)) {
		const image = readImage(entry, response);
		if (image) images.push(image);
		else missing.push(entry);
	}
	return { images, missing: missing.concat(entries.slice(maxFoundImages)) };
}

/** Where an entry may have the base64 of an image. */
const base64Paths = [
	'b64_json',
	'image_base64',
	'source.data',
	'inline_data.data',
	'inlineData.data',
];
/** Where an entry may have a link, a data URL, or base64. */
const addressPaths = [
	...['url', 'image_url', 'image_url.url', 'source.url', 'image', 'image.url', 'data', 'result'],
];
/** Where the type of base64 may be. */
const typePaths = ['source.media_type', 'inline_data.mime_type', 'inlineData.mimeType', 'mimeType'];

/** The fields of an entry that may have an image. */
const fileNames = [
	...new Set([...base64Paths, ...addressPaths].map((path) => path.replace(/\..*/, ''))),
];

/** The first of these paths that has a text. */
const pathIn = (fields: JsonObject, paths: string[]) =>
	paths.find((path) => textAt(fields, path) !== undefined) ?? '';

const mayBeImage = (entry: unknown) =>
	isObject(entry) ? fileNames.some((name) => entry[name]) : typeof entry === 'string';

function readImage(entry: unknown, response: ServiceResponse): Image | undefined {
	if (!mayBeImage(entry)) return undefined;
	const fields = isObject(entry) ? entry : {};
	const base64 = isObject(entry) ? textAt(entry, ...base64Paths) : undefined;
	if (base64 !== undefined) return embeddedImage(base64, fields);
	const address = (isObject(entry) ? textAt(entry, ...addressPaths) : asText(entry)) ?? '';
	if (/^data:/i.test(address) || isBase64Image(address)) return embeddedImage(address, fields);
	const url = asLink(address, response.url);
	if (url !== undefined && linkCarriedKey(url, response))
		return { linkCarriesKey: true, fields: {} };
	return url === undefined ? undefined : { url, fields: withoutFiles({ ...fields, url }) };
}

/** The fields of an entry without the image inside it. */
function withoutImage(entry: JsonObject): JsonObject {
	const base64Path = pathIn(entry, base64Paths);
	const addressPath = pathIn(entry, addressPaths);
	const address = textAt(entry, addressPath) ?? '';
	const isInAddress = /^data:/i.test(address) || isBase64Image(address);
	const paths = [base64Path, isInAddress ? addressPath : ''];
	const names = paths.map((path) => path.split('.')[0]);
	const others = Object.entries(entry).filter(([name]) => !names.includes(name));
	return withoutFiles(Object.fromEntries(others));
}

/** An image from base64 or a data URL; undefined when it is empty. */
function embeddedImage(data: string, entry: JsonObject): Image | undefined {
	const { bytes, mimeType = textAt(entry, ...typePaths) } = fileInText(data);
	return bytes.length === 0 ? undefined : { bytes, mimeType, fields: withoutImage(entry) };
}

/**
 * The images of "Endpoints" 10, each with the text around it and why its answer ended. An answer that broke off with an
 * error is missing if there are images, which are charged.
 * @throws UnusableResponse, with the text, when there is no image
 */
export function readChatImages(response: ServiceResponse): ImageResult {
	const whole = anyCompletion(response);
	const broken = brokenAnswer(whole);
	const { choices } = whole;
	const answers = choices.map((choice) => readAnswer(choice, response));
	const result = {
		images: answers.flatMap(({ images }) => images),
		missing: answers.flatMap(({ missing }) => missing),
		fields: withoutFiles({ ...whole, choices: answers.map(({ choice }) => choice) }),
		finishReasons: choices.map(({ finish_reason }) => finish_reason),
	};
	if (result.images.length === 0) {
		const text = answers.map(({ text }) => text).join('\n\n');
		throw broken ?? noImageError(text, result.finishReasons);
	}
	if (broken) result.missing.push(broken.error ?? broken.message);
	return result;
}

function readAnswer(choice: Choice, response: ServiceResponse) {
	const { message, finish_reason } = choice;
	const imageParts = [...partsOf(message.content).filter(isImagePart), ...partsOf(message.images)];
	const readText = textReader(imageParts.length > 0);
	const { text, found, shown } = readText(textOf(message));
	const entries = [...found.map(({ address }) => address), ...imageParts];
	const { images, missing } = readEntries(entries, response);
	const common = withoutUndefined({ text: shown, finish_reason });
	return {
		...{ missing, text: text.trim() === '' ? textToShow(message) : text },
		choice: withoutEmbeddedFiles(choice, (given) => readText(given).shown),
		images: images.map((image) => ({ ...image, fields: { ...image.fields, ...common } })),
	};
}

/** Reads a text with the images in it, each text once: mostly it is the content and its only part. */
function textReader(areOthersKnown: boolean) {
	const read = new Map<string, { text: string; found: Found[]; shown: string }>();
	return (given: string) => {
		const known = read.get(given);
		if (known) return known;
		const text = unwrapped(given);
		const found = imagesIn(text, areOthersKnown);
		const result = { text, found, shown: withoutEmbedded(text, found) };
		read.set(given, result);
		return result;
	};
}

/** Whether a part of the content is an image, in the form of the specification or of other services. */
function isImagePart(part: unknown): part is JsonObject {
	if (!isObject(part)) return false;
	const names = ['image_url', 'inline_data', 'inlineData'];
	const isNamed = /image/i.test(asText(part.type) ?? '') && !isTextPart(part);
	return isNamed || names.some((name) => part[name]);
}

/** Base64 may be wrapped into lines; a URL in Markdown ends at the first line break, so these are removed. */
function unwrapped(text: string): string {
	const dataUrl = /(\(\s*<?data:image\/[^,()\s]*,)([\w+/=\s-]+(?:[)>]|(?=["'(])))/g;
	let [shown, done] = ['', 0];
	for (const { 0: token, 1: start, 2: base64, index } of first(
		maxFoundImages,
		text.matchAll(dataUrl),
	)) {
		if (!/\s/.test(base64)) continue;
		shown += text.slice(done, index) + start + base64.replace(/(?<!\s)\s+(?=\S)/g, '');
		done = index + token.length;
	}
	return shown + text.slice(done);
}

/**
 * A choice without the images inside its text and its parts.
 * @param shownText a text without the images inside it
 */
function withoutEmbeddedFiles(
	{ message, ...choice }: Choice,
	shownText: (text: string) => string,
): JsonObject {
	const shown = (value: unknown): unknown => {
		if (typeof value === 'string') return shownText(value);
		if (Array.isArray(value)) {
			return value.map((part: unknown, at) => (at < maxFoundImages ? shown(part) : part));
		}
		if (isImagePart(value)) return withoutImage(value);
		return isObject(value) && typeof value.text === 'string'
			? { ...value, text: shownText(value.text) }
			: value;
	};
	const { content, images } = message;
	return {
		// The message is the delta, where a service sends one.
		...{ ...choice, delta: undefined },
		...withoutUndefined({ text: shown(choice.text) }),
		message: {
			...message,
			...withoutUndefined({ content: shown(content), images: shown(images) }),
		},
	};
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
