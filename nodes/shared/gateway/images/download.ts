import {
	linkRefusedStatuses,
	ofStorageHost,
	requestFile,
	type FileSource,
} from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { parseRetryAfter, waitBeforeRetry } from '../client/retryPolicy';
import { readWithIdleTimeout } from '../client/timeouts';
import { GatewayError, type Failure } from '../errors/gatewayError';
import { noResponse, refused, unreadable, type RequestInfo } from '../errors/requestErrors';
import { excerpt } from '../json';
import { hasEnd, imageType } from './imageType';

interface DownloadedImage {
	bytes: Buffer;
	/** The content type that the storage host sent. */
	mimeType?: string;
}

const idleTimeout = 60_000;
const maxBytes = 256 * 1024 * 1024;

/**
 * Downloads an image, without the key; its link may work for only 10 minutes ("Limits").
 * @param extraFields added to the failure
 * @throws GatewayError
 */
export async function downloadImage(
	gateway: Gateway,
	url: string,
	extraFields: Partial<Failure>,
): Promise<DownloadedImage> {
	const { runtime } = gateway;
	const purpose = `download the image ${excerpt(url, 200)}`;
	const requestInfo: RequestInfo = { purpose, cost: 'read', host: new URL(url).host };
	for (let tries = 1; ; tries++) {
		const outcome = await fetchOnce(gateway, url, requestInfo).catch((error: unknown) =>
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

/** Why the bytes of an image cannot be used; continues "the response …". */
export function imageProblem(bytes: Buffer, declaredType?: string): string | undefined {
	if (imageType(bytes, declaredType)) return hasEnd(bytes) === false ? 'ends too early' : undefined;
	return `is no image: ${excerpt(bytes.toString('utf8', 0, 500))}`;
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
): Promise<DownloadedImage> {
	const { runtime, redaction } = gateway;
	const source: FileSource = { url, authenticated: false };
	const response = await requestFile(gateway, requestInfo, source, { offset: 0 });
	const { status, headers } = response;
	const chunks: Uint8Array[] = [];
	let length = 0;
	let failure: unknown;
	try {
		for await (const bytes of readWithIdleTimeout(response, { ...runtime, idleTimeout })) {
			chunks.push(bytes);
			length += bytes.length;
			if (length > maxBytes) break;
		}
	} catch (error) {
		failure = error;
	}
	const bytes = Buffer.concat(chunks);
	// A storage host may announce more bytes than there are, so an image with its end marker is complete.
	if (failure !== undefined && !hasEnd(bytes)) throw failure;
	const failedResponse = { status, headers, text: '' };
	if (status < 200 || status > 299) {
		const text = redaction.truncated(bytes.subarray(0, 10_000).toString('utf8'));
		throw refused(
			requestInfo,
			{ ...failedResponse, text },
			parseRetryAfter(headers, runtime.clock.now()),
		);
	}
	const mimeType = headers['content-type'];
	const problem = imageProblem(bytes, mimeType);
	if (problem !== undefined) throw unreadable(requestInfo, failedResponse, redaction.text(problem));
	return { bytes, mimeType };
}
