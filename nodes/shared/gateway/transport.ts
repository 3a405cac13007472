import type { Connection } from './connection';
import {
	GatewayError,
	canceled,
	noAnswer,
	refused,
	requestIdOf,
	unreadable,
	type Purpose,
} from './errors';
import { exchange, type Received } from './exchange';
import type { World } from './http';
import { parseJson, valueAt } from './json';
import { asyncHeader, endpoints, type Endpoint } from './protocol';
import { nextTry, retryAfterOf } from './retry';

export interface Call<T> {
	endpoint: Endpoint;
	/** Continues "Could not …" in errors. */
	purpose: string;
	/** Takes the place of `{id}` in the path. */
	id?: string;
	/** Sent as JSON. */
	body?: object;
	/** Milliseconds for one try, its answer included. Default: the endpoint's. */
	timeout?: number;
	/** "If the Answer Is Lost" is "Send Again". */
	resendIfLost?: boolean;
	/** True for polls: their next try is the next poll. */
	once?: boolean;
	/** The answer may be a redirect to a file, or the file itself. */
	mayLeadToFile?: boolean;
	/** Takes what is needed from an answer; throws {@link Unusable} when it is not there. */
	parse: (answer: Answer) => T;
}

/** An answer with a good status. */
export interface Answer extends Received {
	/** Undefined when the body is not JSON. */
	json: unknown;
	requestId?: string;
}

/** Thrown by parsers: the problem continues "the answer …". */
export class Unusable extends Error {}

/**
 * The one way to the service: adds address and headers, sends, tries again as `retry.ts` says, and
 * turns every failure into a GatewayError. One instance serves one run of a node, so that a base URL
 * that was found dead is not asked first again.
 */
export class Gateway<W extends World = World> {
	private base: string;

	constructor(
		readonly connection: Connection,
		readonly world: W,
	) {
		this.base = connection.baseUrl;
	}

	/** @throws GatewayError */
	async call<T>(call: Call<T>): Promise<T> {
		const { clock, random, signal } = this.world;
		for (let tries = 1; ; tries++) {
			if (signal?.aborted) throw canceled();
			const base = this.base;
			const outcome = await this.try(base, call).catch(asGatewayError);
			if (!(outcome instanceof GatewayError)) return outcome.value;
			if (signal?.aborted) throw canceled(outcome);

			if (outcome.record.status === 0) this.leave(base);
			const next = nextTry(
				{ ...outcome.record, reach: outcome.reach, retryAfter: outcome.retryAfter, tries },
				{
					resend: call.endpoint.resend,
					resendIfLost: call.resendIfLost ?? false,
					hasBackup: this.connection.backupUrl !== undefined,
					random: random(),
				},
			);
			// A poll that never left goes to the other base at once; any other waits for its next turn.
			const waitsForItsTurn = call.once && !(outcome.reach === 'unsent' && next?.wait === 0);
			if (!next || waitsForItsTurn) throw outcome;
			await clock.sleep(next.wait, signal).catch(() => undefined);
		}
	}

	/** Turns to the other base, unless another request has done so already. */
	private leave(base: string): void {
		const { baseUrl, backupUrl } = this.connection;
		if (this.base === base && backupUrl) this.base = base === baseUrl ? backupUrl : baseUrl;
	}

	private async try<T>(base: string, call: Call<T>): Promise<{ value: T }> {
		const { endpoint } = call;
		const what: Purpose = {
			purpose: call.purpose,
			// "Errors": a lost answer is not billed; yet a job whose creation was lost may run.
			lostIsBilled: endpoint.resend === 'ifRefused' ? 'unknown' : 'no',
		};
		const { http, clock, signal } = this.world;
		const received = await exchange(what, this.request(base, call), {
			http,
			clock,
			signal,
			timeout: call.timeout ?? endpoint.timeoutSeconds * 1000,
			mayLeadToFile: call.mayLeadToFile,
		}).catch((error: unknown) => (error instanceof GatewayError ? error : noAnswer(what, error)));
		if (received instanceof GatewayError) throw received;

		const clean = { ...received, text: this.redact(received.text) };
		const { status, headers, text } = clean;
		if (status >= 400 || status < 200)
			throw refused(what, clean, retryAfterOf(headers, clock.now()));
		const json = parseJson(text);
		try {
			return { value: call.parse({ ...clean, json, requestId: requestIdOf(headers, json) }) };
		} catch (error) {
			if (!(error instanceof Unusable)) throw asGatewayError(error);
			// Some gateways refuse with a good status.
			if (valueAt(json, 'error')) throw refused(what, clean);
			throw unreadable(
				{ ...what, lostIsBilled: endpoint.resend === 'always' ? 'no' : 'unknown' },
				clean,
				error.message,
			);
		}
	}

	private request(base: string, { endpoint, id, body }: Call<unknown>) {
		const headers: Record<string, string> = { Accept: 'application/json' };
		if (body) headers['Content-Type'] = 'application/json';
		if (endpoint === endpoints.referenceVideoCreate) {
			headers[this.connection.asyncHeaderName] = asyncHeader.value;
		}
		return {
			method: endpoint.method,
			url: base + endpoint.path.replace('{id}', () => encodeURIComponent(id ?? '')),
			headers,
			...(body && { body: JSON.stringify(body) }),
		};
	}

	/** Services echo keys in their errors; none may reach an output, an error or a log. */
	private redact(text: string): string {
		const { key } = this.connection;
		return key.length < 8 ? text : text.replaceAll(key, '***');
	}
}

/** A mistake of ours is an error of its own kind, and is not to be hidden behind the network. */
function asGatewayError(error: unknown): GatewayError {
	if (error instanceof GatewayError) return error;
	throw error;
}
