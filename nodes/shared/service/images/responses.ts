import { unstreamed } from '../chat/answerStream';
import { anyCompletion, brokenAnswer, completionIn, type Choice } from '../chat/completion';
import { isTextPart, isThought, partsOf, textOf, textToShow } from '../chat/message';
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
	valueAt,
	without,
	withoutUndefined,
	type JsonObject,
} from '../json';
import { maxFoundImages } from '../protocol/bounds';
import { cutShort, finishReasons } from '../protocol/chat';
import { read, type Answer, type List } from '../reader/values';
import {
	addressIn,
	allLinksIn,
	looksLikeImage,
	readEntries,
	singleIn,
	withoutFiles,
	type Image,
} from './entries';
import { imagesIn } from './textImages';
import { answerInPart, imagesInPart, streamedImages } from './unparsed';

export interface ImageResult {
	images: Image[];
	/** Entries from which no image could be read. */
	missing: unknown[];
	/** Links in the texts of a chat that may be images, too, and were not taken. */
	otherLinks?: string[];
	/** Other fields of the response. */
	fields: JsonObject;
	/** For a chat: why each of its answers ended. */
	finishReasons?: unknown[];
}

/**
 * The images of "Endpoints" 8 and 9. The specification shows only `data[0].url`; links, base64 and data URLs are read
 * wherever an answer has them.
 * @throws UnusableResponse when there is no image
 */
export function readImages(response: ServiceResponse): ImageResult {
	const { text, broken, excess } = response;
	const unparsed = () =>
		streamedImages(text) ?? (excess === undefined ? imagesInPart(text) : undefined) ?? text.trim();
	const { json = unparsed() } = response;
	const found = imagesOf(read(json), response);
	if (found === undefined) {
		const error = valueAt(json, 'data.0.error') ?? valueAt(json, 'data.error');
		throw new UnusableResponse(`has no image: ${describeBody(response)}`, { error });
	}
	const { path, isInPlace } = found;
	const missing = broken === undefined ? found.missing : [...found.missing, describeBody(response)];
	const images = found.images.map((image) =>
		image.url !== undefined && isInPlace ? { ...image, mayNeedKey: true as const } : image,
	);
	const fields = withRequestIds(isObject(json) ? json : {}, response);
	return { images, missing, fields: withoutFiles(path ? without(fields, path) : fields) };
}

/** The images of a list under usual names, the answer itself, any list, or its links. `path` leads to their list. */
function imagesOf(answer: Answer, response: ServiceResponse) {
	const single = singleIn(answer);
	const isFirst = (list: List) => list.isUsual && !list.isWithinList;
	const usual = answer.lists.filter((list) => list.isUsual);
	const others = answer.lists.filter((list) => !list.isUsual);
	const lists = [...usual, ...single.filter(isFirst), ...others, ...single];
	for (const { entries, isUsual, isWithinList, path } of lists) {
		// A text beside the images may be a link, too.
		const isImage = (entry: unknown) =>
			typeof entry === 'string'
				? isUsual || looksLikeImage(entry)
				: !isThought(entry) &&
					(!isTextPart(entry) || (isObject(entry) && addressIn(entry) !== undefined));
		const found = readEntries(entries.slice(0, maxFoundImages).filter(isImage), response);
		if (found.images.length > 0)
			return { ...found, path: isWithinList ? undefined : path, isInPlace: true };
	}
	const { images, missing } = readEntries(allLinksIn(answer), response);
	return images.length > 0 ? { images, missing, path: undefined, isInPlace: false } : undefined;
}

/**
 * The images of "Endpoints" 10, each with the text around it and why its answer ended. Beside images, which are
 * charged, an answer that broke off is only missing. Some gateways answer as "Endpoints" 8 does.
 * @throws UnusableResponse, with the text, when there is no image
 */
export function readChatImages(response: ServiceResponse): ImageResult {
	const hasChoices = completionIn(bodyFields(response))?.choices.length;
	if (!hasChoices && imagesOf(read(response.json), response)) return readImages(response);
	const whole = anyCompletion(response);
	const broken = brokenAnswer(whole);
	const { choices } = whole;
	// The message is the delta, where a service sends one.
	const shown = choices.map((choice) => withoutFiles(without(choice, ['delta'])) as Choice);
	const answers = choices.map((choice, at) => readAnswer(choice, shown[at], response));
	const result = {
		images: answers.flatMap(({ images }) => images),
		missing: answers.flatMap(({ missing }) => missing),
		otherLinks: answers.flatMap(({ others }) => others),
		fields: { ...withoutFiles(without(whole, ['choices'])), choices: shown },
		finishReasons: choices.map(({ finish_reason }) => finish_reason),
	};
	if (result.images.length === 0) {
		const text = answers.map(({ text }) => text).join('\n\n');
		throw broken ?? noImageError(text, result.finishReasons);
	}
	if (broken) result.missing.push(broken.more.error ?? broken.message);
	return result;
}

/** As {@link readChatImages}, of a response as it arrived: an image before the place where it breaks off is charged. */
export async function receivedChatImages(
	response: ServiceResponse,
	reader: Parameters<typeof unstreamed>[1],
	options?: { count?: number },
): Promise<ImageResult> {
	const whole = await unstreamed(response, reader, options).catch((error: unknown) => {
		if (!(error instanceof UnusableResponse) || response.excess !== undefined) throw error;
		return error;
	});
	if (!(whole instanceof UnusableResponse)) return readChatImages(whole);
	const { partialAnswer = answerInPart(response.text), error = whole.message } = whole.more;
	const answer = reader.redaction.json(partialAnswer);
	const choices = answer && completionIn(answer)?.choices.map(withoutCutLink);
	try {
		const found = choices
			? readChatImages({ ...response, json: { ...answer, choices } })
			: readImages(response);
		// The error that broke it off may be in it, too.
		return { ...found, missing: found.missing.length > 0 ? found.missing : [error] };
	} catch {
		throw whole;
	}
}

/** Without what may be a cut link or file at the end of the text. */
function withoutCutLink(choice: Choice): Choice {
	const { content } = choice.message;
	if (typeof content !== 'string') return choice;
	const end = Math.max(...[' ', '\n', ')', '>', '"', "'"].map((sign) => content.lastIndexOf(sign)));
	return { ...choice, message: { ...choice.message, content: content.slice(0, end + 1) } };
}

/** @param shown the answer without its files */
function readAnswer({ message, finish_reason }: Choice, shown: Choice, response: ServiceResponse) {
	const parts = [...partsOf(message.content).filter(isImagePart), ...partsOf(message.images)];
	const text = textOf(message);
	const { images: found, others } = imagesIn(text, parts.length > 0);
	const entries = [...found, ...parts];
	// Some services put images elsewhere into the message, or write them as JSON.
	const elsewhere = () => imagesOf(read({ ...message, content: jsonIn(text) }), response);
	const inPlace = entries.length > 0 ? readEntries(entries, response) : elsewhere();
	const { images, missing } = inPlace ?? { images: [], missing: [] };
	const common = withoutUndefined({ text: textOf(shown.message), finish_reason });
	return {
		missing,
		others,
		text: text.trim() === '' ? textToShow(message) : text,
		images: images
			.filter((image, at) => images.findIndex((other) => isSame(image, other)) === at)
			.map((image) => ({ ...image, fields: { ...image.fields, ...common } })),
	};
}

/** Some services put an image into the text and beside it. */
const isSame = (one: Image, other: Image) =>
	one === other ||
	(one.bytes && other.bytes
		? one.bytes.equals(other.bytes)
		: one.url !== undefined && one.url === other.url);

/** The text may be in a code fence. */
function jsonIn(text: string): unknown {
	const [, fenced] = /^\s*```\w*\n([^]*?)```\s*$/.exec(text) ?? [];
	return parseJson(fenced ?? text);
}

/** In the form of the specification or of other services. */
function isImagePart(part: unknown): part is JsonObject {
	if (!isObject(part) || isThought(part)) return false;
	const names = ['image_url', 'inline_data', 'inlineData'];
	const isNamed = /image/i.test(asText(part.type) ?? '') && !isTextPart(part);
	return isNamed || names.some((name) => part[name]);
}

function noImageError(text: string, reasons: unknown[]): UnusableResponse {
	const ends = reasons.filter((reason) => cutShort(reason) !== undefined);
	const causes = ends.map((reason) => cutShort(reason)?.why);
	if (causes.includes(finishReasons.content_filter)) {
		const problem = `has no image: it was ${finishReasons.content_filter}`;
		return new UnusableResponse(problem, { partialText: text, refusal: 'refusedContent' });
	}
	const [end = ''] = ends.map((reason) => ` (finish_reason ${excerpt(String(reason), 50)})`);
	const isFull = causes.includes(finishReasons.length);
	const cause = isFull ? ` (${finishReasons.length}: raise it, or leave it out)` : end;
	const words = text.trim() === '' ? ' and no text' : `, only this text: ${excerpt(text, 500)}`;
	return new UnusableResponse(`has no image${cause}${words}`, { partialText: text });
}
