import { linkCarriedKey, type ServiceResponse } from '../client/response';
import { fileInText } from '../files/dataUrl';
import { isObject, textAt, withoutUndefined, type JsonObject } from '../json';
import { asLink } from '../links';
import { maxFoundImages, maxLinkLength } from '../protocol/bounds';
import { plainName } from '../reader/values';
import { endsLikeImage, isFile } from './textImages';

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

/** What of a response decides whether a link can be used. */
type Source = Pick<ServiceResponse, 'url' | 'isRedacted'>;

/** The images of a list. */
export function readEntries(
	entries: readonly unknown[],
	response: Source,
): { images: Image[]; missing: unknown[] } {
	const images: Image[] = [];
	const missing: unknown[] = [];
	for (const entry of entries.slice(0, maxFoundImages)) {
		const image = readImage(entry, response);
		if (image) images.push(image);
		else missing.push(entry);
	}
	return { images, missing: missing.concat(entries.slice(maxFoundImages)) };
}

/** Fields of an entry that have base64, whatever it looks like. */
const base64Names = [
	...['b64_json', 'image_base64', 'image_b64', 'base64', 'b64', 'bytes_base64_encoded'],
	'image_bytes',
].map(plainName);
/** Fields that have base64, a link or a data URL, in their order. */
const addressNames = [
	...['url', 'image_url', 'image', 'uri', 'image_uri', 'file_uri', 'data', 'result', 'output'],
	...['link', 'src', 'href', 'download_url', 'file_url', 'signed_url'],
].map(plainName);
const partNames = ['image_url', 'image', 'url', 'source', 'inline_data', 'file'].map(plainName);
const otherNames = /thumb|preview|input|prompt|mask|page/;
/** Fields of an entry or a part that are looked at. */
const maxEntryNames = 100;

interface Address {
	/** Its field of the entry. */
	field: string;
	text: string;
	isBase64: boolean;
}

/** The image of an entry: in its fields, in those of a part, or the only text that looks like one. */
export function addressIn(entry: JsonObject): Address | undefined {
	const fields = Object.entries(entry).slice(0, maxEntryNames);
	const addresses = fields.flatMap(([field, value]) => {
		const isPart = isObject(value) && partNames.includes(plainName(field));
		const texts = isPart
			? Object.entries(value).slice(0, maxEntryNames)
			: [[field, value] as const];
		return texts.flatMap(([given, text]) => {
			const name = plainName(given);
			const isBase64 = base64Names.includes(name) || (isPart && name === 'data');
			const found = { field, name, text: typeof text === 'string' ? text.trim() : '', isBase64 };
			return found.text !== '' && (isBase64 || mayBeAddress(found.text)) ? [found] : [];
		});
	});
	const named = [...base64Names, ...addressNames].map((name) =>
		addresses.find((address) => address.name === name),
	);
	const likely = ({ name, text }: (typeof addresses)[number]) =>
		!otherNames.test(name) && looksLikeImage(text);
	return named.find((address) => address !== undefined) ?? addresses.find(likely);
}

const mayBeAddress = (text: string) => /^(?:https?:\/)?\/./i.test(text) || isFile(text);

/** Whether a text is nothing but an image, or a link that looks like that of one. */
export const looksLikeImage = (text: string) =>
	isFile(text) ||
	(text.length <= maxLinkLength && /^https?:\/\/\S+$/i.test(text) && endsLikeImage(text));

function readImage(entry: unknown, response: Source): Image | undefined {
	const fields = isObject(entry) ? entry : {};
	const address = isObject(entry)
		? addressIn(entry)
		: { field: '', text: typeof entry === 'string' ? entry.trim() : '', isBase64: false };
	if (address === undefined) return undefined;
	const { text, isBase64 } = address;
	if (isBase64 || isFile(text)) {
		const { bytes, mimeType = typeIn(fields) } = fileInText(text);
		return bytes.length === 0
			? undefined
			: { bytes, mimeType, fields: withoutImage(fields, address) };
	}
	const url = asLink(text, response.url);
	if (url !== undefined && linkCarriedKey(url, response))
		return { linkCarriesKey: true, fields: {} };
	return url === undefined ? undefined : { url, fields: withoutFiles({ ...fields, url }) };
}

/** The MIME type that is declared beside base64. */
function typeIn(entry: JsonObject): string | undefined {
	const parts = [entry, ...Object.values(entry).slice(0, maxEntryNames).filter(isObject)];
	const types = parts.map((part) =>
		textAt(part, 'media_type', 'mime_type', 'mimeType', 'content_type'),
	);
	return types.find((type) => type !== undefined);
}

/** The fields of an entry without the image inside it. */
export function withoutImage(entry: JsonObject, address = addressIn(entry)): JsonObject {
	const isWithin = address && (address.isBase64 || isFile(address.text));
	const others = Object.entries(entry).filter(
		([name, value]) =>
			!(isWithin && name === address.field) && !(typeof value === 'string' && isFile(value)),
	);
	return withoutFiles(Object.fromEntries(others));
}

/**
 * The fields without the files among them, which would fill the execution's log. Only what has a file in it is copied: a
 * response may have very many values.
 */
export function withoutFiles(fields: JsonObject): JsonObject {
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
