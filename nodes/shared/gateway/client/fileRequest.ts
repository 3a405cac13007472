import { type HttpRequest, type HttpResponse, type Runtime } from './http';
import { readWithIdleTimeout, withTimeout } from './timeouts';

/** Where a file can be fetched. */
export interface FileSource {
	url: string;
	/** True only when the gateway itself serves the file; a link must be fetched without the key. */
	authenticated: boolean;
}

/** In milliseconds: for the head of an answer, and the longest silence within its body. */
const timeLimit = 60_000;
const maxRedirects = 10;

/**
 * Asks a storage for a file, or for the rest of it ("Endpoints" 3). The link goes out byte for byte;
 * redirects are followed, never with the key to another origin. Rejects when no answer came.
 * @param received bytes that are there already
 * @param etag of the file they belong to
 */
export async function requestFile(
	{ http, clock, signal }: Runtime,
	source: FileSource,
	{ received, etag }: { received: number; etag?: string },
): Promise<HttpResponse> {
	let { url, authenticated } = source;
	const headers: Record<string, string> = {
		Accept: '*/*',
		// Lengths and ranges are to count the file's own bytes.
		'Accept-Encoding': 'identity',
	};
	if (received > 0) headers.Range = `bytes=${received}-`;
	// A weak tag does not vouch for single bytes, as a range needs (RFC 9110, 13.1.5).
	if (received > 0 && etag?.startsWith('"')) headers['If-Range'] = etag;

	for (let hop = 0; ; hop++) {
		// The body outlives the time limit of its head. To close a body that is silent is not enough for all
		// versions of n8n: its connection ends with the request.
		const over = new AbortController();
		const request: HttpRequest = {
			...{ method: 'GET', url, headers, authenticated, timeout: timeLimit },
			signal: AbortSignal.any([over.signal, ...(signal ? [signal] : [])]),
		};
		const head = { milliseconds: timeLimit, clock, signal };
		const answer = await withTimeout(head, async () => await http(request)).catch(
			(error: unknown) => {
				over.abort();
				throw error;
			},
		);
		const close = () => {
			over.abort();
			answer.close();
		};
		const response = { ...answer, close };
		const { location } = response.headers;
		const isRedirect = response.status >= 300 && response.status < 400;
		if (!isRedirect || !location || !URL.canParse(location, url) || hop === maxRedirects) {
			return response;
		}
		response.close();
		const next = new URL(location, url);
		authenticated &&= next.origin === new URL(url).origin;
		url = next.href;
	}
}

/** The beginning of a body that is only read to be shown. */
export async function readBeginning(response: HttpResponse, runtime: Runtime): Promise<string> {
	let text = '';
	try {
		for await (const bytes of readWithIdleTimeout(response, { ...runtime, silence: timeLimit })) {
			text += new TextDecoder().decode(bytes);
			if (text.length > 10_000) break;
		}
	} catch (error) {
		return `${text}… (${error instanceof Error ? error.message : String(error)})`;
	}
	return text;
}
