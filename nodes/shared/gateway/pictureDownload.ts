import { linkRefused } from './download';
import { GatewayError, type ErrorRecord, type Reach } from './errors';
import { noAnswer, refused, unreadable, type Purpose } from './failedRequests';
import { requestFile } from './fileRequest';
import { guardedBody, type World } from './http';
import { excerpt } from './json';
import { hasEnd, pictureType } from './pictureBytes';
import { limits } from './protocol';
import { retryAfterOf, waitBeforeRetry } from './retry';

interface Received {
	bytes: Buffer;
	/** As the storage calls it. */
	mimeType?: string;
}

const silence = 60_000;
const mostBytes = 256 * 1024 * 1024;

/**
 * Fetches a picture, without the key; its link may live for 10 minutes only ("Limits").
 * @param known goes into the record of a failure
 * @throws GatewayError
 */
export async function fetchPicture(
	world: World,
	url: string,
	known: Partial<ErrorRecord>,
): Promise<Received> {
	const purpose = `download the picture ${excerpt(url, 200)}`;
	const what: Purpose = { purpose, lostIsBilled: 'yes', host: new URL(url).host };
	for (let tries = 1; ; tries++) {
		const outcome = await fetchOnce(world, url, what).catch((error: unknown) =>
			error instanceof GatewayError ? error : noAnswer(what, error),
		);
		if (!(outcome instanceof GatewayError)) return outcome;
		const wait = waitBeforeRetry(
			{ ...outcome.record, reach: outcome.reach, retryAfter: outcome.retryAfter, tries },
			{ resend: 'always', resendIfLost: true, hasBackup: false, random: world.random() },
		);
		if (wait === undefined) throw paidFor(outcome.record, { ...known, url }, outcome.reach);
		await world.clock.sleep(wait, world.signal);
	}
}

/** Why bytes that came as a picture are of no use; continues "the answer …". */
export function pictureProblem(bytes: Buffer, said?: string): string | undefined {
	if (pictureType(bytes, said)) return hasEnd(bytes) === false ? 'ends too early' : undefined;
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

async function fetchOnce(world: World, url: string, what: Purpose): Promise<Received> {
	const response = await requestFile(world, { url, authenticated: false }, { received: 0 });
	const { status, headers } = response;
	const pieces: Uint8Array[] = [];
	let length = 0;
	let broken: unknown;
	try {
		for await (const bytes of guardedBody(response, { ...world, silence })) {
			pieces.push(bytes);
			length += bytes.length;
			if (length > mostBytes) break;
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
		throw refused(what, { ...answer, text }, retryAfterOf(headers, world.clock.now()));
	}
	const mimeType = headers['content-type'];
	const problem = pictureProblem(bytes, mimeType);
	if (problem !== undefined) throw unreadable(what, answer, problem);
	return { bytes, mimeType };
}
