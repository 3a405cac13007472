import { errorCodes } from '../../../nodes/shared/service/protocol/errorCodes';
import type { FaultAction } from '../../../gateway';
import { json, page, reset, type Reply } from '../../support/http/scriptedServer';

/** The addresses in the credential. Without `backup`, there is no backup URL. */
export interface Addresses {
	base: Address;
	backup?: Address;
}

/**
 * - `good`: the gateway.
 * - `closed`: a port on which nothing listens.
 * - `unknown`: a host name that does not exist.
 * - `noTls`: https to a server that does not speak TLS.
 * - `page`: a proxy that cannot reach the gateway behind it.
 * - `silent`: a server that accepts every request and never responds.
 */
export type Address = 'good' | 'closed' | 'unknown' | 'noTls' | 'page' | 'silent';

export interface FaultPlace {
	/** Another origin, which serves a web page. */
	elsewhere: string;
	/** Whether the response is a file: files are longer. */
	isFile: boolean;
}

/** Slow faults take pauses or threads. */
export type Fault = { name: string; isSlow?: true } &
	/** The fault that the requests of the route meet in the gateway. */
	(
		| { action: (place: FaultPlace) => FaultAction; addresses?: undefined; proxy?: undefined }
		/** The address that the requests are sent to. */
		| { action?: undefined; addresses: Addresses; proxy?: undefined }
		/** The response of a proxy once it has read the complete response of the gateway. */
		| { action?: undefined; addresses?: undefined; proxy: Reply }
	);

const refusal =
	(status: number, code: string, headers = {}): NonNullable<Fault['action']> =>
	() => ({ action: 'error', status, code, message: 'so it says', headers });

const badGateway = '<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>';
const html = { 'content-type': 'text/html' };

/** The responses by which a proxy says that it lost the response: their status, and the words of a load balancer. */
const proxyResponses: Array<[status: number, message: string]> = [
	[502, 'Internal server error'],
	[503, 'Service Unavailable'],
	[504, 'Endpoint request timed out'],
	[408, 'Request Timeout'],
];

/** All faults of the matrix. An `accepted` request has made its job, and is charged. */
export const faults: Fault[] = [
	{ name: 'connection refused', addresses: { base: 'closed' } },
	{ name: 'unknown host name', addresses: { base: 'unknown' } },
	{ name: 'TLS failure', addresses: { base: 'noTls' } },
	{ name: 'primary down, backup up', addresses: { base: 'closed', backup: 'good' } },
	{ name: 'primary silent, backup up', addresses: { base: 'silent', backup: 'good' } },
	{
		name: 'primary responds with a 502 page, backup up',
		addresses: { base: 'page', backup: 'good' },
	},
	{ name: 'both down', addresses: { base: 'closed', backup: 'unknown' } },
	{ name: 'reset before the response', action: () => ({ action: 'reset' }) },
	{ name: 'reset after it was accepted', action: () => ({ action: 'reset', accepted: true }) },
	{ name: 'reset in mid-body', action: () => ({ action: 'cut', after: '50%' }) },
	{ name: 'no response', action: () => ({ action: 'stall' }) },
	{ name: 'silence in mid-body', action: () => ({ action: 'freeze', after: '50%' }) },
	{
		name: 'slow drip',
		isSlow: true,
		action: ({ isFile }) => ({ action: 'drip', bytesPerSecond: isFile ? 100_000 : 4_000 }),
	},
	{ name: 'shorter than declared', action: () => ({ action: 'wrongLength', by: 20 }) },
	{ name: 'cut, with a matching length', action: () => ({ action: 'wrongLength', by: -20 }) },
	{ name: 'empty', action: () => ({ action: 'answer', accepted: true }) },
	{
		name: 'malformed JSON',
		action: () => ({ action: 'answer', accepted: true, body: '{"object": "list",}' }),
	},
	{
		name: 'HTML 502',
		action: () => ({ action: 'answer', status: 502, headers: html, body: badGateway }),
	},
	{
		name: 'JSON 504 of a proxy',
		action: () => ({
			action: 'answer',
			status: 504,
			body: '{"message": "Endpoint request timed out"}',
		}),
	},
	...proxyResponses.flatMap(([status, message]) => [
		{ name: `a proxy's ${status} page, accepted`, proxy: page(status) },
		{ name: `a load balancer's ${status} JSON, accepted`, proxy: json({ message }, status) },
	]),
	{ name: 'a proxy closes the connection, accepted', proxy: reset },
	{ name: 'wrong content type', action: () => ({ action: 'headers', headers: html }) },
	...(['gzip', 'br', 'deflate'] as const).map((encoding) => ({
		name: `compressed (${encoding})`,
		isSlow: true as const,
		action: () => ({ action: 'encode', encoding }) as const,
	})),
	{ name: '429', action: refusal(429, 'rate_limit_exceeded') },
	{
		name: '429 with Retry-After',
		action: refusal(429, 'rate_limit_exceeded', { 'retry-after': '7' }),
	},
	{ name: '429 quota_exceeded', action: refusal(429, 'quota_exceeded') },
	...[...Object.keys(errorCodes), 'some_other_code'].map((code) => ({
		name: `500 ${code}`,
		action: refusal(500, code),
	})),
	{ name: '503', action: refusal(503, 'unavailable') },
	{
		name: 'redirect to another origin',
		action: ({ elsewhere }) => ({
			action: 'answer',
			status: 307,
			headers: { location: `${elsewhere}/x` },
		}),
	},
];
