import { linkCarriedKey, type ServiceResponse } from '../client/response';
import { fileInText } from '../files/dataUrl';
import { asText, isObject, withTexts, type JsonObject } from '../json';
import { asLink } from '../links';
import { maxFoundImages, maxLinkLength } from '../protocol/bounds';
import {
	firstBy,
	isUsual,
	named,
	read,
	type Answer,
	type List,
	type Rule,
	type Value,
} from '../reader/values';
import { endsLikeImage, filePlace, filesIn, isFile, mayBeBase64 } from './textImages';
import { words } from '../words';

/** A link to an image, or its bytes. */
export interface Image {
	url?: string;
	bytes?: Buffer;
	mimeType?: string;
	linkCarriesKey?: true;
	/** Whether the gateway may get the key when it asks for it: not by a link that a model wrote. */
	mayNeedKey?: true;
	/** The other fields of its entry. */
	fields: JsonObject;
}

/** Decides whether a link can be used. */
type Source = Pick<ServiceResponse, 'url' | 'isRedacted'>;

export function readEntries(
	entries: readonly unknown[],
	response: Source,
): { images: Image[]; missing: unknown[] } {
	const images: Image[] = [];
	const missing: unknown[] = [];
	for (const entry of entries) {
		const isRoom = images.length < maxFoundImages;
		const found = isRoom
			? addressesOf(entry).flatMap((one) => readImage(one, entry, response))
			: [];
		if (found.length === 0) missing.push(entry);
		images.push(...found);
	}
	return { images, missing };
}

const base64Names = words(
	'b64_json image_base64 image_b64 base64 b64 bytes_base64_encoded image_bytes',
);
/** With base64, a link or a data URL; the first ones count. */
const addressNames = words(`
	url image_url image uri image_uri file_uri data result output link src href download_url file_url
	signed_url sample asset_url result_image
`);
const isNamedBase64: Rule = named(...base64Names);
/** Some services put a link into such a field, or a word in place of what they left out. */
const isBase64: Rule = (value) => isNamedBase64(value) && mayBeBase64(String(value.value));
const isOther: Rule = ({ path }) =>
	path.some((name) => /thumb|preview|input|prompt|mask|page/.test(name));
const names = [...base64Names, ...addressNames];
const isNamed: Rule[] = [...names.map((name) => named(name)), ({ name }) => name === ''];
const isLikely: Rule = ({ value }) => looksLikeImage(String(value));
const maxEntryNames = 100;

/** The images of an entry: in its fields, in those of a part, or in the only text that looks like one. */
function addressesOf(entry: unknown): Value[] {
	const values = addressesIn(read(entry, maxEntryNames)).filter(({ path }) => path.length <= 2);
	const rule = [...isNamed, isLikely].find((one) => values.some(one));
	const found = rule ? values.filter(rule) : [];
	// All entries of a list in one field are what was ordered.
	return found.filter(({ path }) => path.join('.') === found[0].path.join('.'));
}

export const addressIn = (entry: unknown): Value | undefined => addressesOf(entry)[0];

const isOfService: Rule = ({ path }) =>
	path.some((name) => /status|poll|cancel|self|callback|webhook|doc|help|avatar|logo/.test(name));

/** All links of an answer, for one that has its images nowhere else. */
export const allLinksIn = (answer: Answer): string[] => [
	...new Set(
		addressesIn(answer)
			.filter(
				(value) => !isOfService(value) && /^https?:\/\/\S+$/i.test(String(value.value).trim()),
			)
			.map(({ value }) => String(value)),
	),
];

/** The entry with the image of an answer that has no list: under usual names, else the first that looks like one. */
export function singleIn(answer: Answer): List[] {
	const values = addressesIn(answer);
	const around = ({ path }: Value) => path.slice(0, -1);
	const usual = values.filter((value) => isUsual(around(value)));
	const found = firstBy(usual, isNamed) ?? values.find(isLikely);
	if (!found) return [];
	const { names, siblings, isWithinList, path, value } = found;
	const entries = [path.length === 0 ? value : siblings];
	const list = { path: names.slice(0, -1), entries, isWithinList };
	return [{ ...list, isUsual: isUsual(around(found)) }];
}

const addressesIn = ({ values }: Answer) =>
	values.filter((value) => !isOther(value) && mayBeAddress(value));

const mayBeAddress: Rule = (value) => {
	const text = typeof value.value === 'string' ? value.value.trim() : '';
	return text !== '' && (isBase64(value) || /^(?:https?:\/)?\/./i.test(text) || isFile(text));
};

export const looksLikeImage = (text: string) =>
	isFile(text) ||
	(text.length <= maxLinkLength && /^https?:\/\/\S+$/i.test(text) && endsLikeImage(text));

function readImage(address: Value, entry: unknown, response: Source): Image[] {
	const text = String(address.value).trim();
	const fields = isObject(entry) ? entry : {};
	if (isBase64(address) || isFile(text)) {
		const { bytes, mimeType = typeIn(entry) } = fileInText(text);
		return bytes.length === 0 ? [] : [{ bytes, mimeType, fields: withoutFiles(fields) }];
	}
	const url = asLink(text, response.url);
	if (url !== undefined && linkCarriedKey(url, response))
		return [{ linkCarriesKey: true, fields: {} }];
	return url === undefined ? [] : [{ url, fields: withoutFiles({ ...fields, url }) }];
}

/** The MIME type that is declared beside base64. */
function typeIn(entry: unknown): string | undefined {
	const type = read(entry, maxEntryNames).values.find(
		named('media_type', 'mime_type', 'content_type'),
	);
	return type && asText(type.value);
}

/** As much base64 is a file of some kind. */
const longBase64 = /^[\w+/-]{2000}/;

/** The fields without the files among them, which would fill the execution's log. */
export const withoutFiles = (fields: JsonObject): JsonObject => withTexts(fields, withoutFile);

/** Without what is nothing but a file; of a text with a file in it, only the file. */
function withoutFile(text: string): string | undefined {
	if (isFile(text) || longBase64.test(text)) return undefined;
	const { files, rest } = filesIn(text);
	return files.length > 0 && rest === filePlace ? undefined : rest;
}
