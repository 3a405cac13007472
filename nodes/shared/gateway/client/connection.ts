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
	const { origin, pathname } = new URL(address);
	return [baseUrl, backupUrl].some((base) => {
		const own = new URL(`${base}/`);
		return origin === own.origin && pathname.startsWith(own.pathname);
	});
}
