import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';
import type { FileState } from '../../service/files/fileEnd';
import { jobName } from '../../service/errors/jobSummary';
import { downloadVideo, type DownloadRequest } from '../../service/jobs/download';
import { videoExtensions, type FileType } from '../../service/files/fileType';
import { read } from '../../service/reader/values';
import { countVideos } from '../../service/reader/videoLink';
import type { N8nGateway } from '../client/gateway';
import type { FileOutput } from './fileOutput';
import { storeError } from './storeError';

/**
 * Streams a finished video into n8n's binary store, with the file type that its bytes show.
 * @returns it as the item's file, and a hint for the user
 * @throws GatewayError
 */
export async function storeVideo(
	{ context, gateway }: { context: IExecuteFunctions; gateway: N8nGateway },
	request: DownloadRequest,
	{ binaryField, name }: Pick<FileOutput, 'binaryField'> & { name: string },
): Promise<{ binary: IBinaryKeyData; hint?: string }> {
	const { runtime } = gateway;
	const { stored, type, state } = await downloadVideo(gateway, request, async (bytes, fileType) => {
		const fileName = videoFileName(name, fileType);
		try {
			const file = await runtime.toStore(bytes);
			return await context.helpers.prepareBinaryData(file, fileName, fileType.mimeType);
		} catch (error) {
			throw storeError(error, request.purpose, 'video');
		}
	});
	const { fileName = name } = stored;
	const hint = hintAt(type, state);
	return { binary: { [binaryField]: stored }, ...(hint && { hint: `${fileName} ${hint}` }) };
}

/** A fact that surprises the next node; continues the name of the file. */
function hintAt({ name, extensions: [extension] }: FileType, state: FileState): string | undefined {
	if (extension !== 'mp4') return `is ${name}, not an mp4.`;
	return state === 'lacksIndex'
		? 'has no index (moov): it arrived as the service made it, but players cannot open it.'
		: undefined;
}

/** A job may have made several videos, and all are charged. Undefined for one. */
export function severalVideosHint(
	id: string,
	{ fields, url }: { fields: object; url: string },
): string | undefined {
	const count = countVideos(read(fields), url);
	if (count === 1) return undefined;
	return `${jobName({ id })} has ${count} videos. This output is about one of them; the links to all are in its fields.`;
}

/** Names that Windows reserves for devices, whatever follows their first dot. */
const deviceName = /^(con|prn|aux|nul|(com|lpt)[0-9¹²³])(?= *(\.|$))/i;

/** Characters of the given name that are looked at. The result is cut to 200 bytes. */
const maxNameLength = 10_000;

/**
 * A file name that is valid on every system, with an extension of the video's type. The extension of another video
 * type is replaced. Any other ending, as in "v1.2", belongs to the name.
 */
export function videoFileName(name: string, { extensions }: FileType): string {
	const safe = name
		.slice(0, maxNameLength)
		.replace(/[<>:"/\\|?*\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, '_')
		.replace(/^[.\s]+/, '');
	// File systems limit names to 255 bytes. A character that was cut in half at the end is removed.
	const short = Buffer.from(safe)
		.subarray(0, 200)
		.toString()
		.replace(/(?<!\ufffd)\ufffd+$/, '')
		.trimEnd();
	const [, stem, given] = /^(.+)\.(\w+)$/.exec(short) ?? [undefined, short, ''];
	const isOfKind = extensions.includes(given.toLowerCase());
	const isOfVideo = isOfKind || videoExtensions.has(given.toLowerCase());
	const base = (isOfVideo ? stem : short)
		.replace(/(?<![.\s])[.\s]+$/, '')
		.replace(deviceName, '_$&');
	return `${base || 'video'}.${isOfKind ? given : extensions[0]}`;
}
