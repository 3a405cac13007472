import { strictNetworkOf } from '../addresses';
import type { PriceList } from '../prices';
import type { Limits } from './requestQueue';

/** The address and credentials of the gateway, already validated. */
export interface Connection {
	/** Without a trailing slash; may carry a path. */
	baseUrl: string;
	/** Serves the same paths ("Specification", first paragraph). */
	backupUrl?: string;
	/** Name of the header that makes a video task asynchronous. */
	asyncHeaderName: string;
	/** Name of the header for the idempotency key; undefined when the service has none. */
	idempotencyHeaderName?: string;
	/** The API key, which is redacted from everything that is shown. */
	key: string;
	/** Apply to all requests with this key in one process; undefined when none are set. */
	limits?: Limits;
	/** Prices of the models as the user entered them; undefined when there are none. */
	prices?: PriceList;
}

type Addresses = Pick<Connection, 'baseUrl' | 'backupUrl'>;

const basesOf = ({ baseUrl, backupUrl = baseUrl }: Addresses): URL[] =>
	[baseUrl, backupUrl].map((base) => new URL(`${base}/`));

/** Whether the key may be sent to an address: only below the base or backup URL, however a server decodes the path. */
export function maySendKeyTo(address: string, connection: Addresses): boolean {
	if (address.length > maxAddressLength) return false;
	const { origin, pathname, username, password } = new URL(address);
	// The HTTP client would send the address's user name instead of the key.
	if (username !== '' || password !== '' || mayEscapeFolder(pathname)) return false;
	return basesOf(connection).some(
		(base) => origin === base.origin && pathname.startsWith(base.pathname),
	);
}

/**
 * Whether a file may be fetched from this address. Whoever wrote a response, or the prompt behind it, chose its links,
 * and n8n can reach much that they cannot. So a link leads only where the gateway could send anybody: to public
 * addresses, to the gateway itself, and to other addresses of the network that the base or backup URL is in. A public
 * name may still resolve to any address. n8n does not show that to nodes; its SSRF protection refuses it.
 */
export function mayFetchFrom(address: string, connection: Addresses): boolean {
	const { host, hostname } = new URL(address);
	const network = strictNetworkOf(hostname);
	if (network === 'public') return true;
	return basesOf(connection).some((base) => {
		const isSame = network !== 'reserved' && network === strictNetworkOf(base.hostname);
		return host === base.host || isSame;
	});
}

/**
 * Whether the response of an address may be shown: that of any other machine in the user's network than the gateway is
 * shown to nobody, since a link in a response may have led there.
 */
export function mayShow(address: string, connection: Addresses): boolean {
	const { origin, hostname } = new URL(address);
	const isOwn = basesOf(connection).some((base) => origin === base.origin);
	return isOwn || strictNetworkOf(hostname) === 'public';
}

/** In characters; servers accept no longer address. */
export const maxAddressLength = 16_000;

/**
 * Whether some server may read a path as one that leaves its folder. Any plain ".." is already resolved. What is encoded
 * twice, or in a way that only old servers decode, may be one, and so may two dots with spaces or control characters.
 */
const mayEscapeFolder = (pathname: string): boolean =>
	/%(?:%|25|2e|c0|c1|u)|(?:\/|%2f|%5c)(?:%[01]\w|%20)*\.(?:%[01]\w|%20)*\./i.test(pathname);
