import { referenceVoice } from '../nodes/shared/service/protocol/models';
import { invalidParameter } from './errors';
import { fetchFile } from './fetching';
import type { MediaItem } from './orders';
import { decodePicture } from './pictures';

/** A media item that was fetched and is valid. */
interface LoadedMedia {
	type: MediaItem['type'];
	bytes: Uint8Array;
	/** `width:height` of an image, in pixels. */
	shape?: string;
}

/** Fetches and checks every item. Throws the first problem, which becomes the error of the job. */
export async function loadMedia(items: MediaItem[], signal: AbortSignal): Promise<LoadedMedia[]> {
	return await Promise.all(
		items.map(async ({ type, url, voiceUrl }, index) => {
			const param = `input.media[${index}]`;
			const load = async (link: string, field: string) =>
				await fetchFile(link, { param: `${param}.${field}`, signal });
			const [bytes, voice] = await Promise.all([
				load(url, 'url'),
				voiceUrl && load(voiceUrl, 'reference_voice'),
			]);
			if (voice) await checkVoice(voice, `${param}.reference_voice`);
			if (type === 'reference_video') return { type, bytes };
			const { width, height } = await decodePicture(bytes, `${param}.url`);
			return { type, bytes, shape: `${width}:${height}` };
		}),
	);
}

async function checkVoice(audio: Uint8Array, param: string): Promise<void> {
	const { BufferSource, Input, MP3, WAVE } = await import('mediabunny');
	const { fileTypes, seconds } = referenceVoice;
	const limits = `${fileTypes.join(' or ')}, ${seconds.min} to ${seconds.max} seconds`;
	const input = new Input({ source: new BufferSource(audio), formats: [WAVE, MP3] });
	const length = await input.computeDuration().catch(() => NaN);
	if (!(length >= seconds.min && length <= seconds.max)) throw invalidParameter(param, limits);
}
