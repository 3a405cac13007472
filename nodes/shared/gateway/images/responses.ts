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
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ServiceResponse,
} from '../client/response';
import {
	asText,
	excerpt,
	isObject,
	parseJson,
	without,
	withoutUndefined,
	type JsonObject,
} from '../json';
import { maxFoundImages, maxReadEntries } from '../protocol/bounds';
import { finishReasons } from '../protocol/chat';
import { placesIn } from '../reader/places';
import {
	addressIn,
	looksLikeImage,
	readEntries,
	withoutFiles,
	withoutImage,
	type Image,
} from './entries';
import { imagesIn, withoutEmbedded } from './textImages';

export interface ImageResult {
	images: Image[];
	/** Entries from which no image could be read. */
	missing: unknown[];
	/** Links in the texts of a chat that may be images, too, and were not taken. */
	otherLinks?: string[];
	/** The other fields of the response. */
	fields: JsonObject;
	/** For a chat: why each of its answers ended. */
	finishReasons?: unknown[];
}

/**
 * The images of "Endpoints" 8 and 9. The specification shows only `data[0].url`; links, base64 and data URLs are read
 * wherever an answer has them, and its other fields are kept.
 * @throws UnusableResponse when there is no image
 */
export function readImages(response: ServiceResponse): ImageResult {
	const { json = streamedImages(response.text) } = response;
	for (const place of placesIn(json)) {
		const { entries, isList, isUsual, isWithinList, path } = place;
		// A text beside the images may be a link, too, and a part may be a text.
		const isImage = (entry: unknown) =>
			typeof entry === 'string'
				? (isList && isUsual) || looksLikeImage(entry)
				: !isTextPart(entry) || (isObject(entry) && addressIn(entry) !== undefined);
		const found = readEntries(entries.filter(isImage), response);
		if (found.images.length === 0) continue;
		const fields = bodyFieldsOf(json, response);
		return { ...found, fields: withoutFiles(isWithinList ? fields : without(fields, path)) };
	}
	throw new UnusableResponse(`has no image: ${describeBody(response)}`);
}

function bodyFieldsOf(json: unknown, response: ServiceResponse): JsonObject {
	const isObjectOrOne = isObject(json) || (Array.isArray(json) && json.length === 1);
	return isObjectOrOne ? bodyFields({ ...response, json }) : withRequestIds({}, response);
}

/** In characters of an event: one with an image has more. */
const minEventLength = 40;

/** The images in a stream of events, each with its own fields; those that are not finished are left out. */
function streamedImages(text: string): JsonObject | undefined {
	const lines = text.split('\n', maxReadEntries);
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
		otherLinks: answers.flatMap(({ others }) => others),
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
	const text = textOf(message);
	const { images: found, others, shown } = readText(text);
	const entries = [...found.map(({ address }) => address), ...imageParts];
	const { images, missing } = readEntries(entries, response);
	const common = withoutUndefined({ text: shown, finish_reason });
	return {
		...{ missing, others, text: text.trim() === '' ? textToShow(message) : text },
		choice: withoutEmbeddedFiles(choice, (given) => readText(given).shown),
		images: images.map((image) => ({ ...image, fields: { ...image.fields, ...common } })),
	};
}

/** Reads a text with the images in it, each text once: mostly it is the content and its only part. */
function textReader(areOthersKnown: boolean) {
	const read = new Map<string, ReturnType<typeof imagesIn> & { shown: string }>();
	return (text: string) => {
		const known = read.get(text);
		if (known) return known;
		const found = imagesIn(text, areOthersKnown);
		const result = { ...found, shown: withoutEmbedded(text, found.images) };
		read.set(text, result);
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
		return new UnusableResponse(problem, text, undefined, 'refusedContent');
	}
	const cause = reasons.includes('length')
		? ` (${finishReasons.length}: raise it, or leave it out)`
		: '';
	const words = text.trim() === '' ? ' and no text' : `, only this text: ${excerpt(text, 500)}`;
	return new UnusableResponse(`has no image${cause}${words}`, text);
}
