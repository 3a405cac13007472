import { linkRefusedStatuses } from '../client/fileLink';
import type { Gateway } from '../client/gateway';
import { transferFile, type Store } from '../client/transfer';
import type { SharedBytes } from '../client/transferLimit';
import { GatewayError, type Failure } from '../errors/gatewayError';
import { excerpt } from '../json';
import { imagePatience, maxImageBytes } from '../protocol/bounds';
import { hintAtImage } from './receivedImage';

interface DownloadedImage<T> {
	/** What the store returned. */
	stored: T;
	/** What the user should know about it; continues its name. */
	hint?: string;
}

/**
 * Downloads an image, without the key; its link may work for only 10 minutes ("Limits"). An image with its end marker is
 * complete, even if the connection broke off. One that ends early is requested again, and delivered if it really ends
 * there.
 * @param image `shared`: what the images of a response may have together; `known`: added to the failure
 * @param store as for {@link transferFile}
 * @throws GatewayError; of the kind `excess` for an image that is too large
 */
export async function downloadImage<T>(
	gateway: Gateway,
	{ url, shared, known }: { url: string; shared: SharedBytes; known: Partial<Failure> },
	store: Store<T>,
): Promise<DownloadedImage<T>> {
	const { stored, type, state } = await transferFile(
		gateway,
		{
			source: { url, authenticated: false },
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

/**
 * An image was charged, but could not be fetched or read. A retry requests the same link again, which costs nothing.
 * @param extraFields added to the failure, such as the link
 */
export function chargedImageError(
	failure: Pick<Failure, 'message' | 'status'> & Partial<Failure>,
	extraFields: Partial<Failure>,
): GatewayError {
	const hasLink = extraFields.url !== undefined;
	const isLost = !hasLink || linkRefusedStatuses.has(failure.status);
	return new GatewayError({
		reach: 'unreadable',
		...failure,
		...extraFields,
		made: isLost ? 'lostImage' : 'image',
		billed: 'yes',
		retry_can_help: !isLost && failure.kind !== 'linkLeadsInside',
	});
}
