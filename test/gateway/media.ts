import { referenceVoice } from '../../nodes/shared/gateway/protocol';
import { invalidParameter, ServiceError } from './errors';
import type { MediaItem } from './orders';
import { probeImage } from './rendering';

/** A piece of reference media, fetched and found good. */
export interface LoadedMedia {
	type: MediaItem['type'];
	bytes: Uint8Array;
	/** Of an image, `width:height` in pixels. */
	shape?: string;
}

const fetchSeconds = 60;

/** Fetches and checks every item. What is wrong with one is thrown, as the error of its job. */
export async function loadMedia(items: MediaItem[], signal: AbortSignal): Promise<LoadedMedia[]> {
	return await Promise.all(
		items.map(async ({ type, url, voiceUrl }, index) => {
			const param = `input.media[${index}]`;
			const load = async (link: string, field: string) =>
				await get(link, `${param}.${field}`, signal);
			const [bytes, voice] = await Promise.all([
				load(url, 'url'),
				voiceUrl && load(voiceUrl, 'reference_voice'),
			]);
			if (voice) await checkVoice(voice, `${param}.reference_voice`);
			const shape = type === 'reference_video' ? undefined : await shapeOf(bytes, `${param}.url`);
			return { type, bytes, shape };
		}),
	);
}

/** "Resources", media item: a link is fetched by plain GET, so no key or cookie goes with it. */
async function get(url: string, param: string, closing: AbortSignal): Promise<Uint8Array> {
	try {
		const signal = AbortSignal.any([closing, AbortSignal.timeout(fetchSeconds * 1000)]);
		const response = await fetch(url, { signal });
		if (!response.ok) throw new Error(`HTTP ${response.status}`);
		return new Uint8Array(await response.arrayBuffer());
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		const message = `${param} could not be fetched: ${reason}`;
		throw new ServiceError(400, 'invalid_parameter', message, { param });
	}
}

async function shapeOf(image: Uint8Array, param: string): Promise<string> {
	try {
		const { width, height } = await probeImage(image);
		return `${width}:${height}`;
	} catch {
		throw new ServiceError(400, 'invalid_image_file', undefined, { param });
	}
}

async function checkVoice(audio: Uint8Array, param: string): Promise<void> {
	const { BufferSource, Input, MP3, WAVE } = await import('mediabunny');
	const { fileTypes, seconds } = referenceVoice;
	const limits = `${fileTypes.join(' or ')}, ${seconds.min} to ${seconds.max} seconds`;
	const input = new Input({ source: new BufferSource(audio), formats: [WAVE, MP3] });
	const length = await input.computeDuration().catch(() => NaN);
	if (!(length >= seconds.min && length <= seconds.max)) throw invalidParameter(param, limits);
}
