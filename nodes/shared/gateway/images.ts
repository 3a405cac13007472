import { complaint } from './answers';
import { completion, textOf } from './chat';
import { GatewayError, noAnswer, refused, unreadable, type Purpose } from './errors';
import { requestFile } from './fileRequest';
import { guardedBody, type World } from './http';
import { asText, excerpt, isObject, valueAt, type JsonObject } from './json';
import { waitBeforeRetry, retryAfterOf } from './retry';
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
	const entries = lists.map((path) => valueAt(answer.json, path)).find(Array.isArray) as
		unknown[] | undefined;
	const found = (entries ?? []).flatMap((entry) => pictureOf(entry) ?? []);
	if (found.length === 0) throw new Unusable(`has no picture: ${complaint(answer)}`);
	return found;
}

function pictureOf(entry: unknown): Picture | undefined {
	if (typeof entry === 'string') return linked(entry, {});
	if (!isObject(entry)) return undefined;
	const { b64_json, image_base64, ...fields } = entry;
	const base64 = asText(b64_json) ?? asText(image_base64);
	if (base64 !== undefined)
		return { bytes: Buffer.from(base64.replace(/^data:[^,]*,/, ''), 'base64'), fields };
	const url =
		asText(entry.url) ?? asText(entry.image_url) ?? asText(valueAt(entry, 'image_url.url'));
	return url === undefined ? undefined : linked(url, fields);
}

function linked(url: string, fields: JsonObject): Picture | undefined {
	const data = /^data:[^,]*;base64,(.*)$/s.exec(url);
	if (data) return { bytes: Buffer.from(data[1], 'base64'), fields: { ...fields, url: undefined } };
	return /^https?:\/\//i.test(url) ? { url, fields } : undefined;
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
	const shown = text.replace(/\(data:image\/[^)\s]*\)/g, '(data:image)');
	return { text: shown, pictures: found, model, usage, request_id };
}

/** The addresses of all images in a markdown text, in their order. */
export function markdownImages(text: string): string[] {
	const addresses: string[] = [];
	for (const { index } of text.matchAll(/!\[[^\]]*\]\(/g)) {
		const start = text.indexOf('(', text.indexOf(']', index)) + 1;
		const address = addressAt(text, start);
		if (address !== undefined) addresses.push(address);
	}
	return addresses;
}

/** The address that begins there: in angle brackets, or up to a space or the bracket that closes it. */
function addressAt(text: string, start: number): string | undefined {
	if (text[start] === '<') {
		const end = text.indexOf('>', start);
		return end === -1 ? undefined : text.slice(start + 1, end);
	}
	let depth = 0;
	for (let place = start; place < text.length; place++) {
		if (text[place] === '(') depth++;
		if (/\s/.test(text[place]) || (text[place] === ')' && depth-- === 0)) {
			return place > start ? text.slice(start, place) : undefined;
		}
	}
	return undefined;
}

/** What the first bytes of a picture say it is; undefined for anything else. */
export function pictureType(
	bytes: Uint8Array,
): { mimeType: string; extension: string } | undefined {
	const head = Buffer.from(bytes.subarray(0, 32)).toString('latin1');
	const is = (extension: string, mimeType = `image/${extension}`) => ({ mimeType, extension });
	if (head.startsWith('\x89PNG\r\n')) return is('png');
	if (head.startsWith('\xff\xd8\xff')) return is('jpg', 'image/jpeg');
	if (/^GIF8[79]a/.test(head)) return is('gif');
	if (/^RIFF....WEBP/s.test(head)) return is('webp');
	if (/^....ftypavi[fs]/s.test(head)) return is('avif');
	if (/^(II\*\0|MM\0\*)/.test(head)) return is('tiff');
	if (head.startsWith('BM')) return is('bmp');
	return /^\s*(<\?xml|<svg)/.test(head) ? is('svg', 'image/svg+xml') : undefined;
}

const silence = 60_000;
const mostBytes = 256 * 1024 * 1024;

/** Fetches a picture, without the key; its link may live for 10 minutes only ("Limits"). @throws GatewayError */
export async function fetchPicture(
	world: World,
	url: string,
	purpose: string,
): Promise<Uint8Array> {
	const what: Purpose = { purpose, lostIsBilled: 'yes' };
	for (let tries = 1; ; tries++) {
		const outcome = await fetchOnce(world, url, what).catch((error: unknown) =>
			error instanceof GatewayError ? error : noAnswer(what, error),
		);
		if (!(outcome instanceof GatewayError)) return outcome;
		const wait = waitBeforeRetry(
			{ ...outcome.record, reach: outcome.reach, retryAfter: outcome.retryAfter, tries },
			{ resend: 'always', resendIfLost: true, hasBackup: false, random: world.random() },
		);
		if (wait === undefined) throw keptForLater(outcome);
		await world.clock.sleep(wait, world.signal);
	}
}

/** However the download fails, the picture is paid for, and the next try does not pay again. */
function keptForLater({ record, reach }: GatewayError): GatewayError {
	const advice =
		'The picture is made and paid for. A retry fetches it again without paying; links of some models live for 10 minutes only.';
	return new GatewayError({ ...record, advice, billed: 'yes', retry_can_help: true }, reach);
}

async function fetchOnce(world: World, url: string, what: Purpose): Promise<Uint8Array> {
	const response = await requestFile(world, { url, authenticated: false }, { received: 0 });
	const { status, headers } = response;
	const pieces: Uint8Array[] = [];
	let length = 0;
	for await (const bytes of guardedBody(response, { ...world, silence })) {
		pieces.push(bytes);
		length += bytes.length;
		if (length > mostBytes) break;
	}
	const bytes = Buffer.concat(pieces);
	const answer = { status, headers, text: '' };
	if (status < 200 || status > 299) {
		const text = bytes.subarray(0, 10_000).toString('utf8');
		throw refused(what, { ...answer, text }, retryAfterOf(headers, world.clock.now()));
	}
	if (pictureType(bytes) === undefined) {
		const text = bytes.subarray(0, 500).toString('utf8');
		throw unreadable(what, { ...answer, text }, `is no picture: ${excerpt(text, 120)}`);
	}
	return bytes;
}

/**
 * Whether a file with a JPEG's name holds several frames, which the service refuses as
 * `invalid_image_file` ("Error codes seen"), as far as its bytes show it.
 */
export function hasSeveralFrames(bytes: Uint8Array): boolean {
	const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	switch (pictureType(bytes)?.extension) {
		case 'gif':
			// A frame begins with its control block; one frame has at most one of them.
			return (
				text.indexOf('\x21\xf9\x04', text.indexOf('\x21\xf9\x04', 0, 'latin1') + 1, 'latin1') !== -1
			);
		case 'png':
			return text.subarray(0, 4096).includes('acTL', 0, 'latin1');
		case 'webp':
			return text.subarray(0, 64).includes('ANIM', 0, 'latin1');
		case 'jpg':
			// The index of a multi-picture file (CIPA DC-007), in one of the first segments.
			return text.subarray(0, 128 * 1024).includes('MPF\0', 0, 'latin1');
		default:
			return false;
	}
}
