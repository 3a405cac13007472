import type { GatewayError } from '../errors/gatewayError';
import { redirected, type RequestInfo } from '../errors/requestErrors';
import { JsonBounds } from '../jsonBounds';
import { maxAddressLength } from './connection';
import { type Clock, type Http, type HttpRequest, type HttpResponse } from './http';
import type { Redaction } from './redaction';
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
	/** Why it was not read to its end: it is larger than n8n could bear. Continues "the response …". */
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
	/** Return files and redirects instead of reading or following them: a signed link refuses the key. */
	mayLeadToFile?: boolean;
	/** Waits until a redirect may be followed: it counts as a request of its own. */
	onRedirect?: (signal: AbortSignal) => Promise<void>;
	/** Called with each chunk of a 2xx body as it arrives; returns true when no more is needed. */
	onText?: (text: string) => Promise<boolean> | boolean;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

/** Responses are JSON; the largest carry ten images of 20 MB as base64. */
const maxCharacters = 300_000_000;

/** Of an error, the beginning is enough. */
const maxErrorCharacters = 10_000_000;

/** Milliseconds to wait for the end of a response once everything needed has arrived. */
const drainTimeout = 1_000;

/** Maximum for one turn of the event loop: as many take about 10 milliseconds to parse and check. */
const maxCharactersPerTurn = 2_000_000;
const fileTypes = /^(video\/|(application|binary)\/(octet-stream|mp4))/i;

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
	const { http, clock, signal, timeout, grace, maySendKeyTo, redaction, ...handlers } = options;
	const { mayLeadToFile, onRedirect, onText } = handlers;
	// Kept outside, so that a timeout in the middle of the body does not lose what had arrived.
	let rawResponse: RawResponse | undefined;

	const followRedirects = async (innerSignal: AbortSignal): Promise<RawResponse> => {
		const unfollowed = async (
			head: RawResponse,
			response: HttpResponse,
			target: string,
			why: Parameters<typeof redirected>[2],
		): Promise<RawResponse> => {
			const { status } = head;
			const redirect = redirected(requestInfo, { status, location: redaction.text(target) }, why);
			rawResponse = { ...head, redirect };
			// Some services redirect to the job that they have just created, and describe it in the body.
			if (requestInfo.cost !== 'read')
				await readInto(rawResponse, response, { clock, innerSignal });
			return rawResponse;
		};
		let { url } = request;
		const visited = new Set<string>();
		for (let hop = 0; ; hop++) {
			if (hop > 0) await onRedirect?.(innerSignal);
			visited.add(new URL(url).href);
			const response = await http({
				...request,
				url,
				authenticated: true,
				timeout,
				signal: innerSignal,
			});
			try {
				innerSignal.throwIfAborted();
				const { status, headers } = response;
				const head = { status, headers, text: '', url };
				if (redirects.has(status) && headers.location) {
					const isTooLong = headers.location.length > maxAddressLength;
					if (isTooLong || !URL.canParse(headers.location, url)) {
						return await unfollowed(head, response, headers.location, 'foreign');
					}
					const location = new URL(headers.location, url);
					const keepsMethod = request.method === 'GET' || status >= 307;
					const { origin, pathname } = new URL(url);
					const isSameOrigin = location.origin === origin;
					// The same path, perhaps with a trailing slash, is the endpoint itself. Any other is a file.
					const isSamePath =
						isSameOrigin && location.pathname.replace(/(?<!\/)\/+$/, '') === pathname;
					if (mayLeadToFile && !isSamePath) return { ...head, location: location.href };
					if (redaction.text(location.href) !== location.href) {
						return await unfollowed(head, response, location.href, 'carriesKey');
					}
					const target = isSameOrigin ? location.href : location.origin;
					if (!isSameOrigin || !maySendKeyTo(location.href)) {
						return await unfollowed(head, response, target, 'foreign');
					}
					// A loop, too many redirects, or one that would drop the body.
					if (visited.has(location.href) || !keepsMethod || hop === maxRedirects) {
						return await unfollowed(head, response, target, 'useless');
					}
					url = location.href;
					continue;
				}
				const mayBeFile = mayLeadToFile && status < 300;
				if (mayBeFile && fileTypes.test(headers['content-type'] ?? '')) {
					return { ...head, isFile: true };
				}
				rawResponse = head;
				await readInto(rawResponse, response, {
					onText: status < 300 ? onText : undefined,
					mayBeFile,
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
		await waitForEventLoop(response, clock);
		return response;
	} catch (error) {
		if (rawResponse === undefined || signal?.aborted) throw asError(error);
		return { ...rawResponse, broken: asError(error).message };
	}
}

/** Per clock: the characters passed on in this turn of the event loop, and the end of the turn. */
const eventLoopTurns = new WeakMap<Clock, { characters: number; end?: Promise<void> }>();

/** Waits while this turn of the event loop has enough to parse: large responses that arrive together would block it. */
async function waitForEventLoop({ text: { length } }: RawResponse, clock: Clock): Promise<void> {
	// A hundred responses of this size fit into one turn.
	if (length < maxCharactersPerTurn / 100) return;
	const turn = eventLoopTurns.get(clock) ?? { characters: 0 };
	eventLoopTurns.set(clock, turn);
	while (turn.end && turn.characters + length > maxCharactersPerTurn) await turn.end;
	turn.characters += length;
	const end = async () => {
		await clock.sleep(0);
		// The first timer may still fire in this turn, after the response was read.
		await clock.sleep(0);
		turn.characters = 0;
		turn.end = undefined;
	};
	turn.end ??= end();
}

async function readInto(
	rawResponse: RawResponse,
	response: HttpResponse,
	{
		onText,
		mayBeFile,
		clock,
		innerSignal,
	}: Pick<ExchangeOptions, 'onText' | 'clock'> & { mayBeFile?: boolean; innerSignal: AbortSignal },
): Promise<void> {
	const decoder = new TextDecoder();
	const bounds = new JsonBounds();
	const isError = rawResponse.status >= 400;
	/** Undefined until the first character: the events of a stream are parsed one by one. */
	let isJson: boolean | undefined;
	let beginning: string | undefined;
	const chunks = response.body[Symbol.asyncIterator]();
	for (;;) {
		const { value: bytes, done } = await chunks.next();
		if (done) return;
		const text = decoder.decode(bytes, { stream: true });
		if (mayBeFile && fileCharacters.test(text)) {
			Object.assign(rawResponse, { text: '', isFile: true });
			return;
		}
		rawResponse.text += text;
		beginning ??= text;
		const [first] = isJson === undefined ? (/\S/.exec(text) ?? []) : [];
		if (first !== undefined) isJson = first === '{' || first === '[';
		const isTooLong = rawResponse.text.length > (isError ? maxErrorCharacters : maxCharacters);
		if (isTooLong || (isJson && !bounds.accepts(text))) {
			if (!isError) Object.assign(rawResponse, { text: beginning, excess: excessOf(isTooLong) });
			return;
		}
		if (await onText?.(text)) break;
	}
	// The service may count a response as delivered only when it was read to its end, but some connections never end.
	const drain = async () => {
		while (!(await chunks.next()).done);
	};
	await Promise.race([drain(), clock.sleep(drainTimeout, innerSignal)]).catch(() => undefined);
}

const excessOf = (isTooLong: boolean) =>
	isTooLong
		? `has more than ${maxCharacters / 1_000_000} million characters, and no response of the service needs as many`
		: 'has more lists, objects and texts in it than any response of the service needs';

function asError(error: unknown): Error {
	return error instanceof Error ? error : new Error(String(error));
}
