import type { PriceList } from '../prices';
import type { Limits } from './keyLimit';

/** The address and credentials of the gateway, already validated. */
export interface Connection {
	/** Without a trailing slash; may carry a path. */
	baseUrl: string;
	/** Serves the same paths ("Specification", first paragraph). */
	backupUrl?: string;
	/** Name of the header that makes a video task asynchronous. */
	asyncHeaderName: string;
	/** Name of the header by which the service recognises an order that is sent again; undefined where it has none. */
	idempotencyHeaderName?: string;
	/** The API key, which is redacted from everything that is shown. */
	key: string;
	/** For all requests with this key in one process; undefined where there are none. */
	limits?: Limits;
	/** Of the models, as the user wrote them; undefined where there are none. */
	prices?: PriceList;
}

/** Whether the key may go to an address: only to those below the base URL and the backup URL, however a server reads it. */
export function maySendKeyTo(
	address: string,
	{ baseUrl, backupUrl = baseUrl }: Pick<Connection, 'baseUrl' | 'backupUrl'>,
): boolean {
	if (address.length > maxAddressLength) return false;
	const { origin, pathname, username, password } = new URL(address);
	// The HTTP client sends a user name of the address in the place of the key.
	if (username !== '' || password !== '' || mayEscapeFolder(pathname)) return false;
	return [baseUrl, backupUrl].some((base) => {
		const own = new URL(`${base}/`);
		return origin === own.origin && pathname.startsWith(own.pathname);
	});
}

/** Characters: servers take no longer one. */
export const maxAddressLength = 16_000;

/** How often a server may decode a path. What is encoded more often is no path that anybody means. */
const maxDecodings = 5;

/** A part of a path that leads out of its folder; some servers end it at a semicolon, or trim what surrounds it. */
const parentSegment = /[/\\][\s\0]*\.[\s\0]*\./;

/** The encodings of a dot and a slash that are longer than they have to be, which old servers decode all the same. */
const overlongEncodings: Array<[RegExp, string]> = [
	[/\xc0\xae|%u002e/gi, '.'],
	[/\xc0\xaf|\xc1\x9c|%u002f|%u005c/gi, '/'],
];

/** Whether some server may take a path, whose plain ".." have been resolved, for one that leaves its folder. */
function mayEscapeFolder(pathname: string): boolean {
	let path = pathname;
	for (let decodings = 0; decodings <= maxDecodings; decodings++) {
		if (parentSegment.test(path)) return true;
		const decoded = overlongEncodings.reduce(
			(text, [form, letter]) => text.replace(form, letter),
			path.replace(/%[\da-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16))),
		);
		if (decoded === path) return false;
		path = decoded;
	}
	return true;
}
