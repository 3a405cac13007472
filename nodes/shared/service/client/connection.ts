import { strictNetworkOf } from '../addresses';
import type { PriceList } from '../prices';
import type { Limits } from './requestQueue';

/** The address and credentials of the gateway, already validated. */
export interface Connection {
	/** Without a trailing slash; may carry a path. */
	baseUrl: string;
	/** Serves the same paths ("Specification", first paragraph). */
	backupUrl?: string;
	asyncHeaderName: string;
	/** Undefined when the service has no idempotency keys. */
	idempotencyHeaderName?: string;
	key: string;
	/** Apply to all requests with this key in one process. */
	limits?: Limits;
	prices?: PriceList;
}

type Addresses = Pick<Connection, 'baseUrl' | 'backupUrl'>;

const basesOf = ({ baseUrl, backupUrl = baseUrl }: Addresses): URL[] =>
	[baseUrl, backupUrl].map((base) => new URL(`${base}/`));

/** The key may be sent only below the base or backup URL, however a server decodes the path. */
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
 * Whether a file may be fetched from this address. A stranger may have chosen the link, and n8n can reach much that
 * strangers cannot. So files come only from public addresses, from the gateway itself, and from the network that the
 * base or backup URL is in. A public name may still resolve to any address: n8n's SSRF protection refuses that.
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

/** The response of another machine in the user's network is never shown: a stranger's link may have led there. */
export function mayShow(address: string, connection: Addresses): boolean {
	const { origin, hostname } = new URL(address);
	const isOwn = basesOf(connection).some((base) => origin === base.origin);
	return isOwn || strictNetworkOf(hostname) === 'public';
}

/** Characters; servers accept no longer address. */
export const maxAddressLength = 16_000;

/**
 * Whether some server may read a path as one that leaves its folder. A URL has no plain ".." left, but may have one that
 * is encoded twice, or as only old servers decode it, or that has spaces or control characters between its dots.
 */
const mayEscapeFolder = (pathname: string): boolean =>
	/%(?:%|25|2e|c0|c1|u)|(?:\/|%2f|%5c)(?:%[01]\w|%20)*\.(?:%[01]\w|%20)*\./i.test(pathname);
