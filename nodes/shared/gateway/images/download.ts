import { requestFile } from '../client/fileRequest';
import { type Runtime } from '../client/http';
import { parseRetryAfter, waitBeforeRetry } from '../client/retryPolicy';
import { readWithIdleTimeout } from '../client/timeouts';
import { GatewayError, type ErrorRecord, type Reach } from '../errors/gatewayError';
import { noAnswer, refused, unreadable, type Purpose } from '../errors/requestErrors';
import { linkRefused } from '../jobs/download';
import { excerpt } from '../json';
import { limits } from '../protocol/limits';
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
	known: Partial<ErrorRecord>,
): Promise<DownloadedImage> {
	const purpose = `download the picture ${excerpt(url, 200)}`;
	const what: Purpose = { purpose, lostIsBilled: 'yes', host: new URL(url).host };
	for (let tries = 1; ; tries++) {
		const outcome = await fetchOnce(runtime, url, what).catch((error: unknown) =>
			error instanceof GatewayError ? error : noAnswer(what, error),
		);
		if (!(outcome instanceof GatewayError)) return outcome;
		const wait = waitBeforeRetry(
			{ ...outcome.record, reach: outcome.reach, retryAfter: outcome.retryAfter, tries },
			{ resend: 'always', resendIfLost: true, hasBackup: false, random: runtime.random() },
		);
		if (wait === undefined) throw paidFor(outcome.record, { ...known, url }, outcome.reach);
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
 * @param known goes into the record: the link, where there is one
 */
export function paidFor(
	record: Pick<ErrorRecord, 'message' | 'status'>,
	known: Partial<ErrorRecord>,
	reach: Reach = 'unreadable',
): GatewayError {
	const isLink = known.url !== undefined;
	const isLost = !isLink || linkRefused.has(record.status);
	const advice = `The picture is made and paid for${
		isLost
			? `, but ${isLink ? 'its link no longer works' : 'it cannot be used'}. Only executing the workflow anew makes a new one, which is paid again`
			: '. Fetch it by its link; if the node failed, its retry does so without paying again'
	}${isLink ? `; links of some models live for ${limits.imageUrlMinutes} minutes only` : ''}.`;
	return new GatewayError(
		{ ...record, ...known, advice, billed: 'yes', retry_can_help: !isLost },
		reach,
	);
}

async function fetchOnce(runtime: Runtime, url: string, what: Purpose): Promise<DownloadedImage> {
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
