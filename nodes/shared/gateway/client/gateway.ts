import { requestIdOf, readErrorObject } from '../errors/errorObject';
import { asGatewayError, canceled, GatewayError } from '../errors/gatewayError';
import { noAnswer, refused, unreadable, type Purpose } from '../errors/requestErrors';
import { parseJson, valueAt } from '../json';
import { asyncHeader, endpoints, type Endpoint } from '../protocol/endpoints';
import type { Connection } from './connection';
import { exchange, type ExchangeOptions, type RawResponse } from './exchange';
import type { Runtime } from './http';
import { Redaction } from './redaction';
import { UnusableResponse, type ServiceResponse } from './response';
import { parseRetryAfter, waitBeforeRetry } from './retryPolicy';

export interface Call<T> {
	endpoint: Endpoint;
	/** Continues "Could not …" in errors. */
	purpose: string;
	/** Takes the place of `{id}` in the path. */
	id?: string;
	/** Sent as JSON. */
	body?: object;
	/** Sent as a multipart form, instead of a body. */
	form?: FormData;
	/** Milliseconds for one try, its answer included. Default: the endpoint's. */
	timeout?: number;
	/** "If the Answer Is Lost" is "Send Again". */
	resendIfLost?: boolean;
	/** How many times it is sent again at most. Default: as `retry.ts` says. */
	retries?: number;
	/** True for polls: their next try is the next poll. */
	once?: boolean;
	/** The answer may be a redirect to a file, or the file itself. */
	mayLeadToFile?: boolean;
	/** Sent besides those that every request has. */
	headers?: Record<string, string>;
	/** Told the body of a good answer as it arrives, piece by piece; gives true when no more is needed. */
	onText?: ExchangeOptions['onText'];
	/** Takes what is needed from an answer; throws {@link UnusableResponse} when it is not there. */
	parse: (answer: ServiceResponse) => T;
}

/**
 * The one way to the service: adds address and headers, sends, tries again as `retry.ts` says, and
 * turns every failure into a GatewayError. One instance serves one run of a node, so that a base URL
 * that was found dead is not asked first again.
 */
export class Gateway<W extends Runtime = Runtime> {
	readonly redaction: Redaction;

	constructor(
		readonly connection: Connection,
		readonly runtime: W,
		/** Where requests go at present; shared by all that came of one gateway. */
		private readonly route = { base: connection.baseUrl },
	) {
		this.redaction = new Redaction(connection.key);
	}

	/** The same gateway for a part of the work that can be stopped by itself. */
	withSignal(signal: AbortSignal): Gateway<W> {
		return new Gateway(this.connection, { ...this.runtime, signal }, this.route);
	}

	/** @throws GatewayError */
	async call<T>(call: Call<T>): Promise<T> {
		const { clock, random, signal, limiter: pace } = this.runtime;
		// Once a try may have been accepted, no later refusal makes that undone.
		let doubt: GatewayError | undefined;
		for (let tries = 1; ; tries++) {
			const attempt = async () => {
				// Stop may have been pressed while the request waited for its turn.
				if (signal?.aborted) throw canceled(doubt);
				return await this.try(call).catch(asGatewayError);
			};
			// A poll has a schedule of its own.
			const isPaced = pace !== undefined && !call.once;
			const outcome = await (isPaced ? pace.run(attempt, isRateLimit) : attempt());
			if (!(outcome instanceof GatewayError)) return outcome.value;
			if (outcome.record.billed === 'unknown') doubt ??= outcome;
			if (signal?.aborted) throw canceled(doubt);

			const wait = waitBeforeRetry(
				{ ...outcome.record, reach: outcome.reach, retryAfter: outcome.retryAfter, tries },
				{
					resend: call.endpoint.resend,
					resendIfLost: call.resendIfLost ?? false,
					hasBackup: this.connection.backupUrl !== undefined,
					retries: call.retries,
					random: random(),
				},
			);
			// A poll that never left goes to the other base at once; any other waits for its next turn.
			const waitsForItsTurn = call.once && !(outcome.reach === 'unsent' && wait === 0);
			if (wait === undefined || waitsForItsTurn) throw doubt ? outcome.after(doubt) : outcome;
			await clock.sleep(wait, signal).catch(() => undefined);
			if (signal?.aborted) throw canceled(doubt);
		}
	}

	/** Turns to the other base, unless another request has done so already. */
	private switchBase(base: string): void {
		const { baseUrl, backupUrl } = this.connection;
		if (this.route.base !== base || !backupUrl) return;
		this.route.base = base === baseUrl ? backupUrl : baseUrl;
	}

	private async try<T>(call: Call<T>): Promise<{ value: T }> {
		const { endpoint } = call;
		const { base } = this.route;
		const what: Purpose = {
			purpose: call.purpose,
			// "Errors": a lost answer is not billed; yet a job whose creation was lost may run.
			lostIsBilled: endpoint.resend === 'ifRefused' ? 'unknown' : 'no',
			unreadableIsBilled: endpoint.resend === 'always' ? 'no' : 'unknown',
		};
		const { http, clock, signal, graceOnStop } = this.runtime;
		const received = await exchange(what, this.request(base, call), {
			http,
			clock,
			signal,
			timeout: call.timeout ?? endpoint.timeoutSeconds * 1000,
			grace: endpoint.resend === 'always' ? undefined : graceOnStop,
			mayLeadToFile: call.mayLeadToFile,
			onText: call.onText,
		}).catch((error: unknown) => {
			const isAnswer = error instanceof GatewayError && error.reach === 'answered';
			// Stop is no answer either: what it interrupts may have been accepted.
			return isAnswer ? error : noAnswer(what, error);
		});
		if (received instanceof GatewayError) {
			if (received.record.status === 0) this.switchBase(base);
			throw received;
		}

		const answer = this.redacted(received);
		const { status, headers, json } = answer;
		if (status >= 400 || status < 200)
			throw refused(what, answer, parseRetryAfter(headers, clock.now()));
		try {
			return { value: call.parse({ ...answer, requestId: requestIdOf(headers, json) }) };
		} catch (error) {
			if (!(error instanceof UnusableResponse)) throw asGatewayError(error);
			throw this.unusableError(what, answer, error);
		}
	}

	/** Without the key, wherever the service echoes it. */
	private redacted(received: RawResponse): RawResponse & { json: unknown } {
		const { redaction } = this;
		const text = redaction.text(received.text);
		const json = parseJson(text);
		const answer = { ...received, headers: redaction.json(received.headers), text, json };
		// A key that is spelled in codes shows once it is read.
		const clean = text.includes('\\u') ? redaction.json(json) : json;
		return clean === json ? answer : { ...answer, text: JSON.stringify(clean), json: clean };
	}

	/** Some gateways refuse with a good status; what of a text had come by then may be billed. */
	private unusableError(
		what: Purpose,
		answer: RawResponse & { json: unknown },
		why: UnusableResponse,
	): GatewayError {
		const { redaction } = this;
		const { partialText: partial = '' } = why;
		const partialText = redaction.truncated(partial);
		// Where the key came in pieces, it stands in pieces in the raw answer too.
		const shown = partialText === partial ? answer : { ...answer, text: '' };
		const inStream = why.error === undefined ? undefined : redaction.json({ error: why.error });
		const error = valueAt(inStream ?? answer.json, 'error');
		if (partialText === '' && readErrorObject({ error })) {
			return refused(what, inStream ? { ...answer, text: JSON.stringify(inStream) } : answer);
		}
		return unreadable(what, shown, redaction.text(why.message), { partialText, error });
	}

	private request(base: string, { endpoint, id, body, form, ...call }: Call<unknown>) {
		const headers: Record<string, string> = { Accept: 'application/json', ...call.headers };
		if (body) headers['Content-Type'] = 'application/json';
		if (endpoint === endpoints.referenceVideoCreate) {
			headers[this.connection.asyncHeaderName] = asyncHeader.value;
		}
		return {
			method: endpoint.method,
			url: base + endpoint.path.replace('{id}', () => encodeURIComponent(id ?? '')),
			headers,
			body: form ?? (body && JSON.stringify(body)),
		};
	}
}

function isRateLimit(outcome: unknown): boolean {
	return outcome instanceof GatewayError && outcome.record.status === 429;
}
