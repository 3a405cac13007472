import type { FileSource } from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { transferFile, type Store } from '../client/transfer';
import type { SharedBytes } from '../client/transferLimit';
import { GatewayError, type Failure } from '../errors/gatewayError';
import { typeToDeliver, type FileType } from '../files/fileType';
import { stateOf } from '../files/fileFormats';
import { excerpt } from '../json';
import { imagePatience, maxImageBytes } from '../protocol/bounds';

/**
 * Downloads an image. With its end marker, it is complete even if the connection broke off. One that ends early is
 * requested again, and delivered if it really ends there, with a hint that continues its name.
 * @param image `shared`: what the images of a response may have together; `known`: added to the failure
 * @throws GatewayError; of the kind `excess` for an image that is too large
 */
export async function downloadImage<T>(
	gateway: Gateway,
	{
		known,
		shared,
		...link
	}: Pick<FileSource, 'url' | 'mayNeedKey'> & { shared: SharedBytes; known: Partial<Failure> },
	store: Store<T>,
): Promise<{ stored: T; hint?: string }> {
	const { url } = link;
	const { stored, type, state } = await transferFile(
		gateway,
		{
			source: { ...link, authenticated: false },
			purpose: `download the image ${excerpt(url, 200)}`,
			wanted: 'image',
			bounds: {
				patience: imagePatience,
				maxBytes: maxImageBytes,
				maxUnannounced: maxImageBytes,
				shared,
			},
			takesCut: true,
			charged: ({ failure }) => chargedImageError(failure, { ...known, url }),
		},
		store,
	);
	return { stored, hint: hintAtImage(type, state === 'cut') };
}

/** Storage hosts refuse a link with these when it has expired or never existed. */
const linkRefusedStatuses = [400, 401, 403, 404, 410];

/** An image was charged, but could not be fetched or read. A retry requests its link again, which costs nothing. */
export function chargedImageError(
	failure: Pick<Failure, 'message' | 'status'> & Partial<Failure>,
	extraFields: Partial<Failure>,
): GatewayError {
	const hasLink = extraFields.url !== undefined;
	const isLost = !hasLink || linkRefusedStatuses.includes(failure.status);
	return new GatewayError({
		reach: 'unreadable',
		...failure,
		...extraFields,
		made: isLost ? 'lostImage' : 'image',
		billed: 'yes',
		retry_can_help: !isLost && failure.kind !== 'linkLeadsInside',
	});
}

/**
 * Judges the file of an image that is charged: all but a text is delivered as it is.
 * @param declaredType used when the bytes are of no known type
 * @returns a hint that continues the image's name; or a problem, which continues "the response …"
 */
export function receivedImage(
	bytes: Buffer,
	declaredType?: string,
): { type: FileType; hint?: string } | { problem: string } {
	const type = typeToDeliver(bytes, declaredType);
	if (bytes.length === 0) return { problem: 'is empty' };
	if (type.kind === 'text') {
		return { problem: `is no image: ${excerpt(bytes.toString('utf8', 0, 500))}` };
	}
	return { type, hint: hintAtImage(type, stateOf(bytes) === 'cut') };
}

function hintAtImage({ kind, name }: FileType, isCut: boolean): string | undefined {
	if (kind !== 'image') return `is ${name}, not an image.`;
	return isCut ? 'ends in the middle: it arrived as the service made it.' : undefined;
}
