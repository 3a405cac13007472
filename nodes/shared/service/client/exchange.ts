import type { GatewayError } from '../errors/gatewayError';
import { redirected, type RequestInfo } from '../errors/requestErrors';
import { JsonBounds } from '../jsonBounds';
import {
	bytesPerWeight,
	maxDrainedBytes,
	responseBounds,
	type ResponseKind,
} from '../protocol/bounds';
import { maxAddressLength } from './connection';
import { type Clock, type Http, type HttpRequest, type HttpResponse } from './http';
import { minCharactersPerTurn, waitForEventLoop } from './eventLoop';
import type { Redaction } from './redaction';
import type { HeldBytes } from './responseMemory';
import { withTimeout } from './timeouts';

/** A response, or as much of it as arrived. */
export interface RawResponse {
	status: number;
	headers: Record<string, string>;
	/** Body; empty when it was not read. */
	text: string;
	/** The address that responded, after redirects. */
	url: string;
	/** Why the body ended early. */
	broken?: string;
	/** Why it was not read to its end: n8n could not bear more. Continues "the response …". */
	excess?: string;
	/** The target of a redirect to a file. */
	location?: string;
	/** The error of a redirect that was not followed, unless the body has what was requested. */
	redirect?: GatewayError;
	/** The body is a file and was left unread. */
	isFile?: boolean;
}

export interface ExchangeOptions {
	http: Http;
	clock: Clock;
	signal?: AbortSignal;
	/** Milliseconds for the whole exchange: redirects, head and body. */
	timeout: number;
	/** Milliseconds that the exchange may still take once the signal aborts; default: none. */
	grace?: number;
	/** Whether the key may be sent to the target of a redirect. */
	maySendKeyTo: (address: string) => boolean;
	/** For the targets of redirects, into which a proxy may put the key. */
	redaction: Redaction;
	/** The content that the response may carry, which bounds its size. */
	kind: ResponseKind;
	/** Counts what has been read. The caller releases it. */
	held: HeldBytes;
	/** Return files and redirects instead of reading or following them: a signed link refuses the key. */
	mayLeadToFile?: boolean;
	/** Waits until a redirect may be followed: it counts as a request of its own. */
	onRedirect?: (signal: AbortSignal) => Promise<void>;
	/** Called with each chunk of a 2xx body as it arrives; returns true when no more is needed. */
	onText?: (text: string) => Promise<boolean> | boolean;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

/** Milliseconds to wait for the end of a response once everything needed has arrived. */
const drainTimeout = 1_000;

/**
 * Characters that no text or JSON contains, but every file has near its start, whatever type its host declares. In a
 * character class, \b is the backspace.
 */
const fileCharacters = /[\0-\b]/;

/**
 * Sends one request with the key and reads its response. Redirects are followed only to addresses of the same origin
 * below the base URL: the key is never sent anywhere else.
 * @throws the network's own error, or a TimeLimitError, when no response arrived
 */
export async function exchange(
	requestInfo: RequestInfo,
	request: Omit<HttpRequest, 'authenticated' | 'timeout' | 'signal'>,
	options: ExchangeOptions,
): Promise<RawResponse> {
	const { http, clock, signal, timeout, grace, redaction, mayLeadToFile, ...handlers } = options;
	const { onRedirect, onText, kind, held } = handlers;
	// Kept outside, so that a timeout in the middle of the body does not lose what had arrived.
	let rawResponse: RawResponse | undefined;

	const followRedirects = async (innerSignal: AbortSignal): Promise<RawResponse> => {
		const visited = new Set<string>();
		for (let { url } = request; ;) {
			if (visited.size > 0) await onRedirect?.(innerSignal);
			visited.add(new URL(url).href);
			const sent = { ...request, url, authenticated: true, timeout, signal: innerSignal };
			const response = await http(sent);
			try {
				innerSignal.throwIfAborted();
				const { status, headers } = response;
				rawResponse = { status, headers, text: '', url };
				const redirect = redirectOf(response, { ...request, url, visited }, options);
				if (redirect?.why === 'file') return { ...rawResponse, location: redirect.target };
				if (redirect?.why !== undefined) {
					const { target, why } = redirect;
					const location = redaction.text(target);
					rawResponse.redirect = redirected(requestInfo, { status, location }, why);
					// Some services redirect to the job that they have just created, and describe it in the body.
					if (requestInfo.cost === 'read') return rawResponse;
				} else if (redirect !== undefined) {
					url = redirect.target;
					rawResponse = undefined;
					continue;
				}
				const isGood = status < 300;
				await readInto(rawResponse, response, {
					onText: isGood ? onText : undefined,
					mayBeFile: isGood && mayLeadToFile,
					kind,
					held,
					clock,
					innerSignal,
				});
				return rawResponse;
			} finally {
				response.close();
			}
		}
	};

	try {
		const limit = { milliseconds: timeout, clock, signal, grace };
		const response = await withTimeout(limit, followRedirects);
		await waitForEventLoop(response.text.length, clock);
		return response;
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

/** The redirect of a response; undefined when there is none. */
function redirectOf(
	{ status, headers: { location: target } }: HttpResponse,
	{ url, method, visited }: Pick<HttpRequest, 'url' | 'method'> & { visited: Set<string> },
	{ mayLeadToFile, redaction, maySendKeyTo }: ExchangeOptions,
): Redirect | undefined {
	if (!redirects.has(status) || !target) return undefined;
	if (target.length > maxAddressLength || !URL.canParse(target, url))
		return { target, why: 'foreignRedirect' };
	const { href, origin, pathname } = new URL(target, url);
	const from = new URL(url);
	const isSameOrigin = origin === from.origin;
	// The same path, perhaps with a trailing slash, is the endpoint itself. Any other is a file.
	const isSamePath = isSameOrigin && pathname.replace(/(?<!\/)\/+$/, '') === from.pathname;
	if (mayLeadToFile && !isSamePath) return { target: href, why: 'file' };
	if (redaction.text(href) !== href) return { target: href, why: 'linkCarriesKey' };
	if (!isSameOrigin) return { target: origin, why: 'foreignRedirect' };
	if (!maySendKeyTo(href)) return { target: href, why: 'foreignRedirect' };
	// A loop, too many redirects, or one that would drop the body.
	const keepsMethod = method === 'GET' || status >= 307;
	const isUseless = visited.has(href) || !keepsMethod || visited.size > maxRedirects;
	return { target: href, why: isUseless ? 'uselessRedirect' : undefined };
}

interface ReadOptions extends Pick<ExchangeOptions, 'onText' | 'kind' | 'held' | 'clock'> {
	mayBeFile?: boolean;
	innerSignal: AbortSignal;
}

async function readInto(
	rawResponse: RawResponse,
	response: HttpResponse,
	{ onText, mayBeFile, kind, held, clock, innerSignal }: ReadOptions,
): Promise<void> {
	const decoder = new TextDecoder();
	const isError = rawResponse.status >= 400;
	const { characters, weight } = responseBounds[isError ? 'document' : kind];
	const bounds = new JsonBounds(weight);
	/** Undefined until the first character: the events of a stream are parsed one by one. */
	let isJson: boolean | undefined;
	let beginning: string | undefined;
	/** Characters since this last waited for the event loop. */
	let unpaused = 0;
	/** Why no more can be read, if this text is too much. */
	const excessWith = async (text: string, bytes: number): Promise<string | undefined> => {
		const { weight: before } = bounds;
		if (rawResponse.text.length + text.length > characters) return tooLong(characters);
		if (isJson && !bounds.accepts(text)) return tooManyParts;
		await held.take(bytes + bytesPerWeight * (bounds.weight - before), innerSignal);
		return undefined;
	};
	const chunks = response.body[Symbol.asyncIterator]();
	for (;;) {
		const { value: bytes, done } = await chunks.next();
		if (done) return;
		const text = decoder.decode(bytes, { stream: true });
		if (mayBeFile && fileCharacters.test(text)) {
			Object.assign(rawResponse, { text: '', isFile: true });
			return;
		}
		beginning ??= text;
		const [first] = isJson === undefined ? (/\S/.exec(text) ?? []) : [];
		if (first !== undefined) isJson = first === '{' || first === '[';
		const excess = await excessWith(text, bytes.length);
		if (excess === undefined || isError) rawResponse.text += text;
		else Object.assign(rawResponse, { text: beginning, excess });
		if (excess !== undefined) {
			held.release();
			return;
		}
		if (await onText?.(text)) break;
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
	await Promise.race([drain(), clock.sleep(drainTimeout, innerSignal)]).catch(() => undefined);
}

const tooLong = (characters: number) =>
	`has more than ${characters / 1_000_000} million characters, and no response of this kind needs as many`;
const tooManyParts =
	'has more lists, objects and texts in it than any response of the service needs';

function asError(error: unknown): Error {
	return error instanceof Error ? error : new Error(String(error));
}
