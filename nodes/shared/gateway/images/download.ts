import {
	linkRefusedStatuses,
	ofStorageHost,
	requestFile,
	type FileSource,
} from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { parseRetryAfter, waitBeforeRetry } from '../client/retryPolicy';
import { readWithIdleTimeout } from '../client/timeouts';
import { announcedLength, TransferLimit } from '../client/transferLimit';
import { GatewayError, type Failure } from '../errors/gatewayError';
import { noResponse, refused, unreadable, type RequestInfo } from '../errors/requestErrors';
import { excerpt } from '../json';
import { receivedImage, type ReceivedImage } from './receivedImage';

/** Images are kept in memory. */
const maxBytes = 250_000_000;

/**
 * Downloads an image, without the key; its link may work for only 10 minutes ("Limits").
 * @param extraFields added to the failure
 * @throws GatewayError
 */
export async function downloadImage(
	gateway: Gateway,
	url: string,
	extraFields: Partial<Failure>,
): Promise<ReceivedImage> {
	const { runtime } = gateway;
	const purpose = `download the image ${excerpt(url, 200)}`;
	const requestInfo: RequestInfo = { purpose, cost: 'read', host: new URL(url).host };
	const earlier: EarlierTry = {};
	for (let tries = 1; ; tries++) {
		const outcome = await fetchOnce(gateway, url, requestInfo, earlier).catch((error: unknown) =>
			error instanceof GatewayError ? error : noResponse(requestInfo, error, gateway.redaction),
		);
		if (!(outcome instanceof GatewayError)) return outcome;
		const { failure } = outcome;
		const request = { cost: 'read', hasBackup: false } as const;
		const rules = { tries, random: runtime.random() };
		const wait = waitBeforeRetry(ofStorageHost(failure), request, rules);
		if (wait === undefined) throw chargedImageError(failure, { ...extraFields, url });
		await runtime.clock.sleep(wait, runtime.signal);
	}
}

interface EarlierTry {
	/** The length of a file that ended in the middle. */
	cutAt?: number;
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
		refusal: undefined,
		billed: 'yes',
		retry_can_help: !isLost,
	});
}

async function fetchOnce(
	gateway: Gateway,
	url: string,
	requestInfo: RequestInfo,
	earlier: EarlierTry,
): Promise<ReceivedImage> {
	const { runtime, redaction } = gateway;
	const source: FileSource = { url, authenticated: false };
	const response = await requestFile(gateway, requestInfo, source, { offset: 0 });
	const { status, headers } = response;
	const announced = announcedLength(response);
	const limit = new TransferLimit(runtime.clock, 0, maxBytes);
	const { idleTimeout } = limit;
	const chunks: Uint8Array[] = [];
	let length = 0;
	let excess = limit.announce(announced);
	let failure: unknown;
	try {
		for await (const bytes of readWithIdleTimeout(response, { ...runtime, idleTimeout })) {
			chunks.push(bytes);
			length += bytes.length;
			excess ??= limit.excess(length);
			if (excess !== undefined) break;
		}
	} catch (error) {
		failure = error;
	}
	const file = Buffer.concat(chunks);
	const head = { status, headers, text: '' };
	if (status < 200 || status > 299) {
		if (failure !== undefined) throw failure;
		const text = redaction.truncated(file.subarray(0, 10_000).toString('utf8'));
		throw refused(requestInfo, { ...head, text }, parseRetryAfter(headers, runtime.clock.now()));
	}
	// Another try would take as long, or bring as much.
	if (excess !== undefined) throw unreadable(requestInfo, head, excess).with({ reach: 'none' });
	const image = receivedImage(file, headers['content-type']);
	// A storage host may announce more bytes than there are, so an image with its end marker is complete.
	if (failure !== undefined && image.isWhole !== true) throw failure;
	if ('problem' in image) {
		throw unreadable(requestInfo, head, redaction.text(image.problem));
	}
	// If all announced bytes have arrived, and the second time as many, the file is like this.
	const isLikeThis = announced?.bytes === length && earlier.cutAt === length;
	if (image.isWhole === false && !isLikeThis) {
		earlier.cutAt = length;
		throw unreadable(requestInfo, head, 'ends too early');
	}
	return image;
}
