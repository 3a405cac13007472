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
}

/** Whether the key may go to an address: only to those below the base URL and the backup URL. */
export function mayHaveKey(
	address: string,
	{ baseUrl, backupUrl = baseUrl }: Pick<Connection, 'baseUrl' | 'backupUrl'>,
): boolean {
	// A server may take an encoded slash for one, and then leave the path by "..".
	const readings = [address, address.replace(/%2f|%5c/gi, '/')].map((text) => new URL(text));
	return [baseUrl, backupUrl].some((base) => {
		const own = new URL(`${base}/`);
		return readings.every(
			({ origin, pathname }) => origin === own.origin && pathname.startsWith(own.pathname),
		);
	});
}
