import { errorCodes } from '../../../nodes/shared/gateway/protocol/errorCodes';
import type { FaultAction } from '../../gateway';

/** Where the credential leads; the backup URL is absent unless it is named. */
export interface Addresses {
	base: Address;
	backup?: Address;
}

/**
 * - `good`: the gateway.
 * - `closed`: a port where nobody listens.
 * - `unknown`: a name that does not exist.
 * - `noTls`: https, where the other side does not speak it.
 * - `page`: a proxy that cannot reach the gateway behind it.
 * - `silent`: a server that takes every request and never answers.
 */
export type Address = 'good' | 'closed' | 'unknown' | 'noTls' | 'page' | 'silent';

export interface FaultPlace {
	/** Another origin, which serves a web page. */
	elsewhere: string;
	/** Files are longer than answers. */
	isFile: boolean;
}

/** What the requests of the route meet, or where they are sent; slow is what takes pauses, or threads. */
export type Fault = { name: string; isSlow?: true } & (
	| { action: (place: FaultPlace) => FaultAction; addresses?: undefined }
	| { action?: undefined; addresses: Addresses }
);

const refusal =
	(status: number, code: string, headers = {}): NonNullable<Fault['action']> =>
	() => ({ action: 'error', status, code, message: 'so it says', headers });

const page = '<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>';
const html = { 'content-type': 'text/html' };

/** "Every fault" of the matrix. What was `accepted` has made its job, and is billed. */
export const faults: Fault[] = [
	{ name: 'connection refused', addresses: { base: 'closed' } },
	{ name: 'unknown host name', addresses: { base: 'unknown' } },
	{ name: 'TLS failure', addresses: { base: 'noTls' } },
	{ name: 'primary down, backup up', addresses: { base: 'closed', backup: 'good' } },
	{ name: 'primary silent, backup up', addresses: { base: 'silent', backup: 'good' } },
	{
		name: 'primary gives a page with 502, backup up',
		addresses: { base: 'page', backup: 'good' },
	},
	{ name: 'both down', addresses: { base: 'closed', backup: 'unknown' } },
	{ name: 'reset before the answer', action: () => ({ action: 'reset' }) },
	{ name: 'reset after it was accepted', action: () => ({ action: 'reset', accepted: true }) },
	{ name: 'reset in mid-body', action: () => ({ action: 'cut', after: '50%' }) },
	{ name: 'no answer', action: () => ({ action: 'stall' }) },
	{ name: 'silence in mid-body', action: () => ({ action: 'freeze', after: '50%' }) },
	{
		...{ name: 'slow drip', isSlow: true },
		action: ({ isFile }) => ({ action: 'drip', bytesPerSecond: isFile ? 100_000 : 4_000 }),
	},
	{ name: 'shorter than declared', action: () => ({ action: 'wrongLength', by: 20 }) },
	{ name: 'cut, in good order', action: () => ({ action: 'wrongLength', by: -20 }) },
	{ name: 'empty', action: () => ({ action: 'answer', accepted: true }) },
	{
		name: 'malformed JSON',
		action: () => ({ action: 'answer', accepted: true, body: '{"object": "list",}' }),
	},
	{
		name: 'HTML 502',
		action: () => ({ action: 'answer', status: 502, headers: html, body: page }),
	},
	{
		name: 'JSON 504 of a proxy',
		action: () => ({
			...{ action: 'answer', status: 504 },
			body: '{"message": "Endpoint request timed out"}',
		}),
	},
	{ name: 'wrong content type', action: () => ({ action: 'headers', headers: html }) },
	...(['gzip', 'br', 'deflate'] as const).map((encoding) => ({
		...{ name: `compressed (${encoding})`, isSlow: true as const },
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
