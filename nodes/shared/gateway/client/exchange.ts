import { GatewayError } from '../errors/gatewayError';
import type { RequestInfo } from '../errors/requestErrors';
import { excerpt } from '../json';
import { type Clock, type Http, type HttpRequest, type HttpResponse } from './http';
import { withTimeout } from './timeouts';

/** An answer, as far as it came. */
export interface RawResponse {
	status: number;
	headers: Record<string, string>;
	/** Body; empty when it was not read. */
	text: string;
	/** The address that answered, after redirects. */
	url: string;
	/** Why the body ended early. */
	broken?: string;
	/** Where a redirect leads that was not followed. */
	location?: string;
	/** The body is a file and was left unread. */
	isFile?: boolean;
}

export interface ExchangeOptions {
	http: Http;
	clock: Clock;
	signal?: AbortSignal;
	/** Milliseconds for everything: redirects, head and body. */
	timeout: number;
	/** Milliseconds of them that are left once the signal aborts; default: none. */
	grace?: number;
	/** Hand back files and redirects instead of reading or following them: a signed link refuses the key. */
	mayLeadToFile?: boolean;
	/** Told the body of a good answer as it arrives, piece by piece; gives true when no more is needed. */
	onText?: (text: string) => Promise<boolean> | boolean;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

/** Answers are JSON; the largest carry pictures as base64. */
const maxCharacters = 256 * 1024 * 1024;

/** Milliseconds for the end of an answer of which all that is needed has come. */
const drainTimeout = 1_000;
const fileTypes = /^(video\/|(application|binary)\/(octet-stream|mp4))/i;

/**
 * Sends one request with the key and reads its answer. Redirects are followed within the same origin
 * only: the key never goes anywhere else.
 * @throws GatewayError for a redirect that must not be followed; the network's own error, or a
 * TimeLimitError, when no answer came
 */
export async function exchange(
	what: RequestInfo,
	request: Omit<HttpRequest, 'authenticated' | 'timeout' | 'signal'>,
	options: ExchangeOptions,
): Promise<RawResponse> {
	const { http, clock, signal, timeout, grace, mayLeadToFile, onText } = options;
	// Kept outside, so that a time limit in mid-body does not lose what had come.
	let received: RawResponse | undefined;

	const followRedirects = async (limit: AbortSignal): Promise<RawResponse> => {
		let url = request.url;
		for (let hop = 0; ; hop++) {
			const response = await http({ ...request, url, authenticated: true, timeout, signal: limit });
			try {
				limit.throwIfAborted();
				const { status, headers } = response;
				const head = { status, headers, text: '', url };
				if (redirects.has(status) && headers.location) {
					if (!URL.canParse(headers.location, url)) {
						throw foreignRedirect(what, status, headers.location);
					}
					const location = new URL(headers.location, url);
					const keepsMethod = request.method === 'GET' || status >= 307;
					const { origin, pathname } = new URL(url);
					const isOwn = location.origin === origin;
					// The same question, with a slash at its end, say; anything else is a file, which takes no key.
					const isSame = isOwn && location.pathname.replace(/\/+$/, '') === pathname;
					if (mayLeadToFile && !isSame) return { ...head, location: location.href };
					if (isOwn && keepsMethod && hop < maxRedirects) {
						url = location.href;
						continue;
					}
					throw isOwn
						? uselessRedirect(what, status, location.href)
						: foreignRedirect(what, status, location.origin);
				}
				if (mayLeadToFile && status < 300 && fileTypes.test(headers['content-type'] ?? '')) {
					return { ...head, isFile: true };
				}
				received = head;
				const told = status < 300 ? onText : undefined;
				await readInto(received, response, { onText: told, clock, limit });
				return received;
			} finally {
				response.close();
			}
		}
	};

	try {
		return await withTimeout({ milliseconds: timeout, clock, signal, grace }, followRedirects);
	} catch (error) {
		if (received === undefined || signal?.aborted) throw asError(error);
		return { ...received, broken: asError(error).message };
	}
}

async function readInto(
	received: RawResponse,
	response: HttpResponse,
	{ onText, clock, limit }: Pick<ExchangeOptions, 'onText' | 'clock'> & { limit: AbortSignal },
): Promise<void> {
	const decoder = new TextDecoder();
	const pieces = response.body[Symbol.asyncIterator]();
	for (;;) {
		const { value: bytes, done } = await pieces.next();
		if (done) return;
		const text = decoder.decode(bytes, { stream: true });
		received.text += text;
		if (received.text.length > maxCharacters) throw tooLarge();
		if (await onText?.(text)) break;
	}
	// An answer may count as delivered only when its end was taken, and some connections stay open.
	const end = async () => {
		while (!(await pieces.next()).done);
	};
	await Promise.race([end(), clock.sleep(drainTimeout, limit)]).catch(() => undefined);
}

function tooLarge(): Error {
	return new RangeError(`it is longer than ${maxCharacters} characters`);
}

function asError(error: unknown): Error {
	return error instanceof Error ? error : new Error(String(error));
}

function foreignRedirect(what: RequestInfo, status: number, location: string): GatewayError {
	return redirectError(what, { status, location }, 'foreignRedirect');
}

/** Within the gateway, but in circles, or in a way that loses what was to be sent. */
function uselessRedirect(what: RequestInfo, status: number, location: string): GatewayError {
	return redirectError(what, { status, location }, 'uselessRedirect');
}

function redirectError(
	{ purpose }: RequestInfo,
	{ status, location }: { status: number; location: string },
	about: 'foreignRedirect' | 'uselessRedirect',
): GatewayError {
	return new GatewayError({
		message: `Could not ${purpose}: the gateway redirects to ${excerpt(location)}`,
		remedies: [{ about }],
		reach: 'answered',
		status,
		billed: 'no',
		retry_can_help: false,
		// Of polls: who sits before the service, and redirects, may be gone a moment later.
		pollCanHelp: true,
	});
}
