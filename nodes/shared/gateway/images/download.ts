import { requestFile } from '../client/fileRequest';
import { type Runtime } from '../client/http';
import { parseRetryAfter, waitBeforeRetry } from '../client/retryPolicy';
import { readWithIdleTimeout } from '../client/timeouts';
import { GatewayError, type Failure } from '../errors/gatewayError';
import { noAnswer, refused, unreadable, type RequestInfo } from '../errors/requestErrors';
import { linkRefused } from '../jobs/download';
import { excerpt } from '../json';
import { hasEnd, imageType } from './imageType';

interface DownloadedImage {
	bytes: Buffer;
	/** As the storage calls it. */
	mimeType?: string;
}

const idleTimeout = 60_000;
const maxBytes = 256 * 1024 * 1024;

/**
 * Fetches a picture, without the key; its link may live for 10 minutes only ("Limits").
 * @param known goes into the record of a failure
 * @throws GatewayError
 */
export async function downloadImage(
	runtime: Runtime,
	url: string,
	known: Partial<Failure>,
): Promise<DownloadedImage> {
	const purpose = `download the picture ${excerpt(url, 200)}`;
	const what: RequestInfo = { purpose, cost: 'read', host: new URL(url).host };
	for (let tries = 1; ; tries++) {
		const outcome = await fetchOnce(runtime, url, what).catch((error: unknown) =>
			error instanceof GatewayError ? error : noAnswer(what, error),
		);
		if (!(outcome instanceof GatewayError)) return outcome;
		const { failure } = outcome;
		const wait = waitBeforeRetry(failure, { tries, hasBackup: false, random: runtime.random() });
		if (wait === undefined) throw paidFor(failure, { ...known, url });
		await runtime.clock.sleep(wait, runtime.signal);
	}
}

/** Why bytes that came as a picture are of no use; continues "the answer …". */
export function imageProblem(bytes: Buffer, said?: string): string | undefined {
	if (imageType(bytes, said)) return hasEnd(bytes) === false ? 'ends too early' : undefined;
	return `is no picture: ${excerpt(bytes.toString('utf8', 0, 500))}`;
}

/**
 * However a picture fails to come, it is paid for. A retry asks by the same link, and does not pay again.
 * @param known goes into the failure: the link, where there is one
 */
export function paidFor(
	failure: Pick<Failure, 'message' | 'status'> & Partial<Failure>,
	known: Partial<Failure>,
): GatewayError {
	const hasLink = known.url !== undefined;
	const isLost = !hasLink || linkRefused.has(failure.status);
	return new GatewayError({
		reach: 'unreadable',
		...failure,
		...known,
		remedies: [{ about: 'imageIsPaid', hasLink, isLost }],
		billed: 'yes',
		retry_can_help: !isLost,
	});
}

async function fetchOnce(
	runtime: Runtime,
	url: string,
	what: RequestInfo,
): Promise<DownloadedImage> {
	const response = await requestFile(runtime, { url, authenticated: false }, { received: 0 });
	const { status, headers } = response;
	const pieces: Uint8Array[] = [];
	let length = 0;
	let broken: unknown;
	try {
		for await (const bytes of readWithIdleTimeout(response, { ...runtime, silence: idleTimeout })) {
			pieces.push(bytes);
			length += bytes.length;
			if (length > maxBytes) break;
		}
	} catch (error) {
		broken = error;
	}
	const bytes = Buffer.concat(pieces);
	// A storage may announce more bytes than there are.
	if (broken !== undefined && !hasEnd(bytes)) throw broken;
	const answer = { status, headers, text: '' };
	if (status < 200 || status > 299) {
		const text = bytes.subarray(0, 10_000).toString('utf8');
		throw refused(what, { ...answer, text }, parseRetryAfter(headers, runtime.clock.now()));
	}
	const mimeType = headers['content-type'];
	const problem = imageProblem(bytes, mimeType);
	if (problem !== undefined) throw unreadable(what, answer, problem);
	return { bytes, mimeType };
}
