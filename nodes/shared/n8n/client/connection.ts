import type { Connection } from '../../service/client/connection';
import { isHeaderName, isReservedHeader } from '../../service/client/http';
import { isLoopback, parseUrl } from '../../service/links';
import { PriceList } from '../../service/prices';
import { asyncHeader } from '../../service/protocol/endpoints';
import { badInput, type Problem } from '../errors/badInput';

/** @throws GatewayError that names every unusable field of the credential */
export function connectionFrom(credential: Readonly<Record<string, unknown>>): Connection {
	const problems: Problem[] = [];
	const text = (name: string) => {
		const value = credential[name];
		return typeof value === 'string' ? value.trim() : '';
	};
	const address = (name: string, field: string) => {
		// An address copied from an example often ends with the version, which the paths of the endpoints have already.
		const value = text(name)
			.replace(/(?<!\/)\/+(v1\/*)?$/i, '')
			.trim();
		const url = /^https?:\/\//i.test(value) ? parseUrl(value) : undefined;
		if (url === undefined) {
			problems.push({ field, problem: 'must be an address that starts with https://' });
		} else if (url.username + url.password !== '') {
			// They would be sent instead of the key.
			problems.push({ field, problem: 'must not have a user name or a password in it' });
		} else if (url.hash !== '' || value.endsWith('#')) {
			// No request carries what follows it, so each path would be lost.
			const problem =
				'must have no # in it: give the address of the service, not that of its console';
			problems.push({ field, problem });
		} else if (/^http:/i.test(value) && !isLoopback(value) && credential.allowHttp !== true) {
			const problem =
				'must start with https, because over http everybody on the way can read the API key. If you want that, switch on Allow Unencrypted HTTP under Advanced';
			problems.push({ field, problem });
		}
		return value;
	};

	// Pasting can add characters that a header must not have.
	const key = text('apiKey')
		.replace(/[^\x21-\x7e]+/g, ' ')
		.trim()
		.replace(/^Bearer( |$)/i, '')
		.replaceAll(' ', '');
	if (key === '') problems.push({ field: 'API Key', problem: 'is empty' });
	const baseUrl = address('baseUrl', 'Base URL');
	const backupUrl = text('backupUrl') === '' ? undefined : address('backupUrl', 'Backup URL');
	const checkHeader = (header: string, field: string, taken?: string) => {
		if (!isHeaderName(header)) {
			problems.push({ field, problem: 'must be the name of an HTTP header' });
		} else if (isReservedHeader(header) || header.toLowerCase() === taken?.toLowerCase()) {
			problems.push({ field, problem: 'must not be a header that requests have already' });
		}
	};
	const asyncHeaderName = text('asyncHeaderName') || asyncHeader.name;
	checkHeader(asyncHeaderName, 'Async Header Name');
	const idempotencyHeaderName = text('idempotencyHeaderName') || undefined;
	if (idempotencyHeaderName !== undefined) {
		checkHeader(idempotencyHeaderName, 'Idempotency Header Name', asyncHeaderName);
	}
	/** Undefined when the field is empty or 0. */
	const limit = (name: string, field: string, { min }: { min: number }) => {
		const given = credential[name] ?? 0;
		// Number() turns an empty list into 0, which would mean "no limit".
		const value = ['string', 'number'].includes(typeof given) ? Number(given) : NaN;
		if (value === 0) return undefined;
		const isWhole = min === 1;
		if (!Number.isFinite(value) || value < min || (isWhole && !Number.isInteger(value))) {
			const problem = `must be ${isWhole ? 'a whole number' : 'a number above 0'}, or empty for no limit`;
			problems.push({ field, problem });
		}
		return value;
	};
	const requestsPerSecond = limit('requestsPerSecond', 'Requests per Second', { min: 0 });
	const requestsInFlight = limit('requestsInFlight', 'Requests in Flight', { min: 1 });
	const limits = { requestsPerSecond, requestsInFlight };
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
		...((requestsPerSecond ?? requestsInFlight) && { limits }),
		prices: PriceList.of(credential.prices),
	};
}
