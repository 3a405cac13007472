import { redirected, type RequestInfo } from '../errors/requestErrors';
import { JsonBounds } from '../jsonBounds';
import { parseUrl } from '../links';
import { bytesPerWeight, maxDrainedBytes, responseBounds } from '../protocol/bounds';
import { maxAddressLength, maySendKeyTo } from './connection';
import { minCharactersPerTurn, waitForEventLoop } from './eventLoop';
import type { Clock, HttpRequest, HttpResponse } from './http';
import type { Call, Sender } from './request';
import type { RawResponse } from './response';
import type { HeldBytes } from './responseMemory';
import type { Slot } from './sendInTurn';
import { withTimeout } from './timeouts';

interface ExchangeOptions {
	call: Pick<Call<unknown>, 'endpoint' | 'response' | 'mayLeadToFile' | 'onText'>;
	requestInfo: RequestInfo;
	/** Milliseconds for the whole exchange: redirects, head and body. */
	timeout: number;
	/** The caller releases it. */
	held: HeldBytes;
	/** Each redirect counts as a request of its own, and takes a new place in the queue. */
	slot: Slot;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

/** Milliseconds to wait for the end of a response once everything needed has arrived. */
const drainTimeout = 1_000;

/** Every file has one near its start, and no text or JSON does. In a character class, \b is the backspace. */
const fileCharacters = /[\0-\b]/;

/**
 * Sends one request with the key and reads its response. Redirects are followed only where the key may be sent. Where the
 * call may lead to a file, a redirect to one is returned, since a signed link refuses the key, and a file is left unread.
 * @throws the network's own error, or a TimeLimitError, when no response arrived
 */
export async function exchange(
	request: Omit<HttpRequest, 'authenticated' | 'timeout' | 'signal'>,
	sender: Sender,
	{ call, requestInfo, timeout, held, slot }: ExchangeOptions,
): Promise<RawResponse> {
	const { http, clock, signal, queue, graceOnStop } = sender.runtime;
	const { mayLeadToFile } = call;
	const isRead = requestInfo.cost === 'read';
	// Kept outside, so that a timeout in the middle of the body does not lose what had arrived.
	let rawResponse: RawResponse | undefined;

	const followRedirects = async (innerSignal: AbortSignal): Promise<RawResponse> => {
		const visited = new Set<string>();
		for (let { url } = request; ;) {
			if (visited.size > 0) {
				slot.leave?.();
				slot.leave = await queue?.enter({ signal: innerSignal });
			}
			visited.add(new URL(url).href);
			const sent = { ...request, url, authenticated: true, timeout, signal: innerSignal };
			const response = await http(sent);
			try {
				innerSignal.throwIfAborted();
				const { status, headers } = response;
				rawResponse = { status, headers, text: '', url };
				const redirect = redirectOf(response, { ...request, url, visited, mayLeadToFile }, sender);
				if (redirect?.why === 'file') return { ...rawResponse, location: redirect.target };
				if (redirect?.why !== undefined) {
					const { target, why } = redirect;
					const location = sender.redaction.text(target);
					rawResponse.redirect = redirected(requestInfo, { status, location }, why);
					// Some services redirect to the job that they have just created, and describe it in the body.
					if (isRead) return rawResponse;
				} else if (redirect !== undefined) {
					url = redirect.target;
					rawResponse = undefined;
					continue;
				}
				await readInto(rawResponse, response, { call, held, clock, signal: innerSignal });
				return rawResponse;
			} finally {
				response.close();
			}
		}
	};

	try {
		const limit = { milliseconds: timeout, clock, signal, grace: isRead ? undefined : graceOnStop };
		return await withTimeout(limit, followRedirects);
	} catch (error) {
		if (rawResponse === undefined || signal?.aborted) throw asError(error);
		return { ...rawResponse, broken: asError(error).message };
	}
}

interface Redirect {
	target: string;
	/** Why it is not followed: it leads to a file, or as in the error. */
	why?: 'file' | Parameters<typeof redirected>[2];
}

/** @param hop `visited`: the addresses that have responded */
function redirectOf(
	{ status, headers: { location: target } }: HttpResponse,
	hop: Pick<HttpRequest, 'url' | 'method'> & { visited: Set<string>; mayLeadToFile?: boolean },
	{ connection, redaction }: Sender,
): Redirect | undefined {
	const { url, method, visited, mayLeadToFile } = hop;
	if (!redirects.has(status) || !target) return undefined;
	const to = target.length > maxAddressLength ? undefined : parseUrl(target, url);
	if (!to) return { target, why: 'foreignRedirect' };
	const { href, origin, pathname } = to;
	const from = new URL(url);
	const isSameOrigin = origin === from.origin;
	// The same path, perhaps with a trailing slash, is the endpoint itself. Any other is a file.
	const isSamePath = isSameOrigin && pathname.replace(/(?<!\/)\/+$/, '') === from.pathname;
	if (mayLeadToFile && !isSamePath) return { target: href, why: 'file' };
	if (redaction.text(href) !== href) return { target: href, why: 'linkCarriesKey' };
	if (!isSameOrigin) return { target: origin, why: 'foreignRedirect' };
	if (!maySendKeyTo(href, connection)) return { target: href, why: 'foreignRedirect' };
	// A loop, too many redirects, or one that would drop the body.
	const keepsMethod = method === 'GET' || status >= 307;
	const isUseless = visited.has(href) || !keepsMethod || visited.size > maxRedirects;
	return { target: href, why: isUseless ? 'uselessRedirect' : undefined };
}

async function readInto(
	rawResponse: RawResponse,
	response: HttpResponse,
	options: Pick<ExchangeOptions, 'call' | 'held'> & { clock: Clock; signal: AbortSignal },
): Promise<void> {
	const { call, held, clock, signal } = options;
	const decoder = new TextDecoder();
	const isGood = rawResponse.status < 300;
	const isError = rawResponse.status >= 400;
	const { endpoint, response: kind = endpoint.response } = call;
	const { characters, weight } = responseBounds[isError ? 'document' : kind];
	const bounds = new JsonBounds(weight);
	/** Undefined until the first character. Other texts are not weighed: the events of a stream are parsed one by one. */
	let isJson: boolean | undefined;
	let beginning: string | undefined;
	let unpaused = 0;
	/** Why no more can be read, if this text is too much. */
	const excessWith = async (text: string, bytes: number): Promise<string | undefined> => {
		const { weight: before } = bounds;
		if (rawResponse.text.length + text.length > characters) return tooLong(characters);
		if (isJson && !bounds.accepts(text)) return tooManyParts;
		await held.take(bytes + bytesPerWeight * (bounds.weight - before), signal);
		return undefined;
	};
	const chunks = response.body[Symbol.asyncIterator]();
	for (;;) {
		const { value: bytes, done } = await chunks.next();
		if (done) return;
		const text = decoder.decode(bytes, { stream: true });
		if (isGood && call.mayLeadToFile && fileCharacters.test(text)) {
			Object.assign(rawResponse, { text: '', isFile: true });
			return;
		}
		beginning ??= text;
		if (isJson === undefined && /\S/.test(text)) isJson = /^\s*[{[]/.test(text);
		const excess = await excessWith(text, bytes.length);
		if (excess === undefined || isError) rawResponse.text += text;
		else Object.assign(rawResponse, { text: beginning, excess });
		if (excess !== undefined) {
			held.release();
			return;
		}
		if (isGood && (await call.onText?.(text))) break;
		unpaused += text.length;
		if (unpaused < minCharactersPerTurn) continue;
		await waitForEventLoop(unpaused, clock);
		unpaused = 0;
	}
	// The service may count a response as delivered only when it was read to its end, but some connections never end.
	const drain = async () => {
		for (let drained = 0; drained < maxDrainedBytes;) {
			const { value: bytes, done } = await chunks.next();
			if (done) return;
			drained += bytes.length;
		}
	};
	await Promise.race([drain(), clock.sleep(drainTimeout, signal)]).catch(() => undefined);
}

const tooLong = (characters: number) =>
	`has more than ${characters / 1_000_000} million characters, and no response of this kind needs as many`;
const tooManyParts =
	'has more lists, objects and texts in it than any response of the service needs';

function asError(error: unknown): Error {
	return error instanceof Error ? error : new Error(String(error));
}
