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
	const entries = lists
		.map((path) => valueAt(answer.json, path))
		.find((list) => Array.isArray(list) && list.length > 0) as unknown[] | undefined;
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
	if (data)
		return {
			bytes: Buffer.from(data[1], 'base64'),
			fields: { ...fields, url: undefined, image_url: undefined },
		};
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

/** The addresses of all images in a markdown text, in their order; in one pass, however long it is. */
export function markdownImages(text: string): string[] {
	/** Open square brackets: whether each begins an image. */
	const names: boolean[] = [];
	/** Open round brackets: where the address of an image begins in them. */
	const addresses: Array<number | undefined> = [];
	const found: Array<{ start: number; end: number }> = [];
	const close = (start: number | undefined, end: number) => {
		if (start !== undefined && end > start) found.push({ start, end });
	};
	let angle = -1;
	for (const { 0: token, index } of text.matchAll(/\\[[\]]|!\[|\[|\]\(\s*|\]|\(|\)|\s/g)) {
		if (token.startsWith('\\')) continue;
		if (/\s$/.test(token))
			for (const start of addresses.splice(0))
				close(start, token.startsWith(']') ? index + 2 : index);
		if (token.endsWith('[')) names.push(token === '![');
		else if (token === '(') addresses.push(undefined);
		else if (token === ')') close(addresses.pop(), index);
		else if (token.startsWith(']')) {
			const isImage = names.pop() ?? false;
			const start = index + token.length;
			if (token === ']') continue;
			const isAngled = isImage && text[start] === '<';
			addresses.push(isImage && !isAngled ? start : undefined);
			if (!isAngled) continue;
			if (angle < start) angle = text.indexOf('>', start);
			if (angle === -1) angle = Infinity;
			if (angle !== Infinity) close(start + 1, angle);
		}
	}
	return found.sort((a, b) => a.start - b.start).map(({ start, end }) => text.slice(start, end));
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
	const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	switch (pictureType(bytes)?.extension) {
		case 'gif':
			return hasTwoGifFrames(file);
		case 'png':
			// Chunks: a length, a name, the data, a sum; the one of animations comes before the picture.
			for (let place = 8; place + 8 <= file.length; place += 12 + file.readUInt32BE(place)) {
				const name = file.toString('latin1', place + 4, place + 8);
				if (name === 'acTL' || name === 'IDAT') return name === 'acTL';
			}
			return false;
		case 'webp':
			// The flags of the extended form.
			return file.toString('latin1', 12, 16) === 'VP8X' && (file[20] & 0x02) !== 0;
		case 'jpg':
			// The index of a multi-picture file (CIPA DC-007), in one of the first segments.
			return file.subarray(0, 128 * 1024).includes('MPF\0', 0, 'latin1');
		default:
			return false;
	}
}

/** Goes from block to block of a GIF, up to its second picture. */
function hasTwoGifFrames(file: Buffer): boolean {
	const table = (flags: number) => (flags & 0x80 ? 6 << (flags & 7) : 0);
	let place = 13 + table(file[10]);
	for (let frames = 0; ; place++) {
		if (file[place] === 0x21) place += 2;
		else if (file[place] !== 0x2c) return false;
		else if (++frames === 2) return true;
		else place += 11 + table(file[place + 9]);
		while (file[place] > 0) place += file[place] + 1;
	}
}
