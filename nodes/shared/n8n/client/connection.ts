import type { Connection } from '../../service/client/connection';
import { isHeaderName, isReservedHeader } from '../../service/client/http';
import { isLoopback, parseUrl } from '../../service/links';
import { PriceList } from '../../service/prices';
import { asyncHeader } from '../../service/protocol/endpoints';
import { badInput } from '../errors/badInput';

/** @throws GatewayError that names every unusable field of the credential */
export function connectionFrom(credential: Readonly<Record<string, unknown>>): Connection {
	const text = (name: string) => {
		const value = credential[name];
		return typeof value === 'string' ? value.trim() : '';
	};
	const key = keyIn(text('apiKey'));
	const baseUrl = withoutVersion(text('baseUrl'));
	const backupUrl = text('backupUrl') === '' ? undefined : withoutVersion(text('backupUrl'));
	const allowsHttp = credential.allowHttp === true;
	const asyncHeaderName = text('asyncHeaderName') || asyncHeader.name;
	const idempotencyHeaderName = text('idempotencyHeaderName') || undefined;
	const limits = {
		requestsPerSecond: limitIn(credential.requestsPerSecond),
		requestsInFlight: limitIn(credential.requestsInFlight),
	};
	const { requestsPerSecond: rate = 1, requestsInFlight: count = 1 } = limits;

	const problems = Object.entries({
		'API Key': key === '' && 'is empty',
		'Base URL': addressProblem(baseUrl, allowsHttp),
		'Backup URL': backupUrl !== undefined && addressProblem(backupUrl, allowsHttp),
		'Async Header Name': headerProblem(asyncHeaderName),
		'Idempotency Header Name':
			idempotencyHeaderName !== undefined && headerProblem(idempotencyHeaderName, asyncHeaderName),
		'Requests per Second':
			!(rate > 0 && rate < Infinity) && 'must be a number above 0, or empty for no limit',
		'Requests in Flight':
			!(count > 0 && Number.isInteger(count)) && 'must be a whole number, or empty for no limit',
	}).flatMap(([field, problem]) => (problem ? { field, problem } : []));
	if (problems.length > 0) {
		const { message } = badInput(problems);
		throw badInput([{ field: 'Model Gateway credential:', problem: message }]);
	}
	return {
		baseUrl,
		backupUrl,
		asyncHeaderName,
		idempotencyHeaderName,
		key,
		...((limits.requestsPerSecond ?? limits.requestsInFlight) && { limits }),
		prices: PriceList.of(credential.prices),
	};
}

/** Pasting can add characters that a header must not have. */
const keyIn = (pasted: string): string =>
	pasted
		.replace(/[^\x21-\x7e]+/g, ' ')
		.trim()
		.replace(/^Bearer( |$)/i, '')
		.replaceAll(' ', '');

/** An address copied from an example often ends with the version, which the paths of the endpoints have already. */
const withoutVersion = (address: string): string =>
	address.replace(/(?<!\/)\/+(v1\/*)?$/i, '').trim();

function addressProblem(address: string, allowsHttp: boolean): string | undefined {
	const url = /^https?:\/\//i.test(address) ? parseUrl(address) : undefined;
	if (url === undefined) return 'must be an address that starts with https://';
	// They would be sent instead of the key.
	if (url.username + url.password !== '') return 'must not have a user name or a password in it';
	// No request carries what follows it, so each path would be lost.
	if (url.hash !== '' || address.endsWith('#')) {
		return 'must have no # in it: give the address of the service, not that of its console';
	}
	if (allowsHttp || url.protocol === 'https:' || isLoopback(address)) return undefined;
	return 'must start with https, because over http everybody on the way can read the API key. If you want that, switch on Allow Unencrypted HTTP under Advanced';
}

function headerProblem(name: string, taken?: string): string | undefined {
	if (!isHeaderName(name)) return 'must be the name of an HTTP header';
	const isTaken = isReservedHeader(name) || name.toLowerCase() === taken?.toLowerCase();
	return isTaken ? 'must not be a header that requests have already' : undefined;
}

/** Undefined when the field is empty or 0. */
function limitIn(given: unknown): number | undefined {
	if (given === undefined || given === null) return undefined;
	// Number() turns an empty list into 0, which would mean "no limit".
	const limit = ['string', 'number'].includes(typeof given) ? Number(given) : NaN;
	return limit === 0 ? undefined : limit;
}
