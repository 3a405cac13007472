import { GatewayError } from '../errors/gatewayError';
import { linkCarriesKey, noResponse, type RequestInfo } from '../errors/requestErrors';
import { fileInText } from '../files/dataUrl';
import { parseUrl } from '../links';
import { maxFileRedirects, transferMinute as timeout } from '../protocol/bounds';
import { mayFetchFrom, maySendKeyTo, mayShow } from './connection';
import type { Gateway } from './gateway';
import type { HttpRequest, HttpResponse, Runtime } from './http';
import { anySignal, withTimeout } from './timeouts';

export interface FileSource {
	url: string;
	/** True only when the gateway itself serves the file; a link must be fetched without the key. */
	authenticated: boolean;
	/** Whether the key may be sent when the gateway asks for it: never for the link of a task ("Endpoints" 3). */
	mayNeedKey?: true;
}

/** Some services give the file itself in place of a link. */
export const isDataUrl = ({ url }: Pick<FileSource, 'url'>): boolean => /^data:/i.test(url);

/** The address to show; undefined for a data URL, which would fill the execution. */
export const linkTo = (source: Pick<FileSource, 'url'>): string | undefined =>
	isDataUrl(source) ? undefined : source.url;

interface FileRange {
	/** Number of bytes received already. */
	offset: number;
	/** Number of bytes wanted. Default: the rest of the file. */
	length?: number;
	/** Of the file that the received bytes belong to. */
	etag?: string;
}

export interface FileResponse extends HttpResponse {
	/** Whether nothing of it may be shown: see {@link mayShow}. */
	isHidden: boolean;
}

/**
 * Requests a file, or the rest of it, from a storage host ("Endpoints" 3). The link is sent unchanged, byte for byte.
 * Redirects are followed. Nothing is sent where {@link mayFetchFrom} does not allow it, and the key only where
 * {@link maySendKeyTo} does.
 * @throws GatewayError when no response arrived, or the link or a redirect carries the key or leads elsewhere
 */
export async function requestFile(
	{ runtime, connection, redaction }: Gateway,
	requestInfo: RequestInfo,
	source: FileSource,
	{ offset, length, etag }: FileRange,
): Promise<FileResponse> {
	const { http, clock, signal, queue } = runtime;
	let { url, authenticated } = source;
	if (isDataUrl(source)) return fileInDataUrl(url);
	const headers: Record<string, string> = {
		Accept: '*/*',
		// Lengths and ranges must count the bytes of the file itself, not of a compressed copy.
		'Accept-Encoding': 'identity',
	};
	if (offset > 0 || length !== undefined) {
		headers.Range = `bytes=${offset}-${length === undefined ? '' : offset + length - 1}`;
	}
	// A range needs a strong validator: a weak one does not promise identical bytes (RFC 9110, 13.1.5).
	if (offset > 0 && etag?.startsWith('"')) headers['If-Range'] = etag;

	for (let hop = 0; ; hop++) {
		const { host } = new URL(url);
		if (!mayFetchFrom(url, connection)) {
			const problem = `its link leads to an address inside your network (${host})`;
			const message = `Could not ${requestInfo.purpose}: ${problem}`;
			throw new GatewayError({ message, kind: 'linkLeadsInside' });
		}
		// Closing an idle body does not close its connection in every runtime; aborting the request does.
		const closing = new AbortController();
		const request: HttpRequest = {
			method: 'GET',
			url,
			headers,
			authenticated,
			timeout,
			signal: anySignal(closing.signal, signal),
		};
		const headLimit = { milliseconds: timeout, clock, signal };
		const leave = authenticated ? await queue?.enter({ signal }) : undefined;
		const httpResponse = await withTimeout(headLimit, async () => await http(request)).catch(
			(error: unknown) => {
				closing.abort();
				leave?.();
				throw noResponse({ ...requestInfo, host, url }, error, redaction);
			},
		);
		const close = () => {
			closing.abort();
			httpResponse.close();
			leave?.();
		};
		// Headers end up in errors and outputs, and the ETag is sent back to the host.
		const cleanHeaders = redaction.json(httpResponse.headers);
		const isHidden = !mayShow(url, connection);
		const response = { ...httpResponse, headers: cleanHeaders, close, isHidden };
		const next = hop < maxFileRedirects ? redirectOf(httpResponse, url) : undefined;
		if (next === undefined) return response;
		response.close();
		if (redaction.text(next.href) !== next.href) throw linkCarriesKey(requestInfo.purpose);
		authenticated &&= next.origin === new URL(url).origin && maySendKeyTo(next.href, connection);
		url = next.href;
	}
}

function fileInDataUrl(dataUrl: string): FileResponse {
	const { bytes, mimeType = '' } = fileInText(dataUrl);
	const headers = {
		'content-length': String(bytes.length),
		'content-type': mimeType.replace(/;base64$/i, ''),
	};
	const body = (async function* () {
		yield await Promise.resolve(bytes);
	})();
	return { status: 200, headers, body, close: () => undefined, isHidden: false };
}

function redirectOf({ status, headers }: HttpResponse, url: string): URL | undefined {
	const { location } = headers;
	const isRedirect = status >= 300 && status < 400 && location;
	const target = isRedirect ? parseUrl(location, url) : undefined;
	return target && /^https?:$/.test(target.protocol) ? target : undefined;
}

/** The bytes of a body. Throws after `idleTimeout` milliseconds of waiting for the next ones, and on Stop. */
export async function* readBody(
	response: HttpResponse,
	{ clock, signal, idleTimeout }: Pick<Runtime, 'clock' | 'signal'> & { idleTimeout: number },
): AsyncGenerator<Uint8Array, void, undefined> {
	const chunks = response.body[Symbol.asyncIterator]();
	const limit = { milliseconds: idleTimeout, clock, signal };
	try {
		for (;;) {
			const { value, done } = await withTimeout(limit, async () => await chunks.next());
			if (done) return;
			yield value;
		}
	} finally {
		// Ending the iteration of the body instead could wait for its next byte.
		response.close();
	}
}
