import { otherModelIn } from '../errors/refusal';
import type { RequestInfo } from '../errors/requestErrors';
import { jsonTextOf, valueAt } from '../json';
import type { ResponseKind } from '../protocol/bounds';
import { asyncHeader, type Endpoint } from '../protocol/endpoints';
import type { Connection } from './connection';
import type { Idempotency } from './idempotency';
import type { Runtime } from './http';
import type { Redaction } from './redaction';
import type { ServiceResponse } from './response';

export interface Sender {
	connection: Connection;
	runtime: Runtime;
	redaction: Redaction;
}

export interface Call<T> {
	endpoint: Endpoint;
	/** Continues "Could not …" in errors. */
	purpose: string;
	/** Replaces `{id}` in the path. */
	id?: string;
	/** Maximum milliseconds for which other requests and the credential's limits may hold it back. Default: no maximum. */
	patience?: number;
	body?: object;
	form?: FormData;
	/** Milliseconds for one try; of a generation, for all tries together. Default: the endpoint's. */
	timeout?: number;
	/** Whether the user wants it sent again when its response was lost. Default: as its cost says. */
	resendsLost?: boolean;
	/** Maximum number. Default: as `verdict.ts` says. */
	retries?: number;
	/** True for polls: the next poll serves as the retry. */
	once?: boolean;
	/** The response may be a redirect to a file, or the file itself. */
	mayLeadToFile?: boolean;
	/** Default: the endpoint's. */
	response?: ResponseKind;
	headers?: Record<string, string>;
	/** Called with each chunk of a 2xx body as it arrives; returns true when no more is needed. */
	onText?: (text: string) => Promise<boolean> | boolean;
	/** @throws UnusableResponse when the response lacks what is needed */
	parse: (response: ServiceResponse) => T | Promise<T>;
}

/** The facts on which a failure of a call depends. */
export function requestInfoOf(
	call: Call<unknown>,
	{ backupUrl }: Connection,
	{ idempotencyKey }: Idempotency,
): RequestInfo {
	const { endpoint, purpose, resendsLost } = call;
	return {
		purpose,
		resendsLost,
		cost: endpoint.cost,
		media: mediaOf(endpoint, call),
		idempotencyKey,
		otherModel: otherModelIn(endpoint, call),
		hasBackup: backupUrl !== undefined,
	};
}

export function requestOf(
	{ endpoint, id, body, form, headers: more }: Call<unknown>,
	{ asyncHeaderName, idempotencyHeaderName }: Connection,
	{ base, idempotencyKey }: Idempotency & { base: string },
) {
	const headers: Record<string, string> = { Accept: 'application/json', ...more };
	if (body) headers['Content-Type'] = 'application/json';
	if (endpoint.isAsync) headers[asyncHeaderName] = asyncHeader.value;
	if (idempotencyHeaderName && idempotencyKey) headers[idempotencyHeaderName] = idempotencyKey;
	return {
		method: endpoint.method,
		url: base + endpoint.path.replace('{id}', () => encodeURIComponent(id ?? '')),
		headers,
		body: form ?? (body && jsonTextOf(body)),
	};
}

/** Undefined where the endpoint needs no reference media ("Endpoints" 1). */
function mediaOf({ fields }: Endpoint, { body }: { body?: object }): RequestInfo['media'] {
	const name = 'input.media';
	if (fields?.[name]?.required !== true) return undefined;
	const media = valueAt(body, name) ?? [];
	return Array.isArray(media) && media.length === 0 ? 'none' : 'given';
}
