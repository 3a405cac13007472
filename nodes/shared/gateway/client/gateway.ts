import { requestIdOf, readErrorObject } from '../errors/errorObject';
import { asGatewayError, GatewayError, stopped } from '../errors/gatewayError';
import { noAnswer, refused, unreadable, type RequestInfo } from '../errors/requestErrors';
import { parseJson, valueAt } from '../json';
import { asyncHeader, type Endpoint } from '../protocol/endpoints';
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
	/** The user wants a job created again when the answer to its creation was lost. */
	resendIfLost?: boolean;
	/** How many times it is sent again at most. Default: as `retryPolicy.ts` says. */
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
 * The one way to the service: adds address and headers, sends, sends again as the verdict and `retryPolicy.ts` say,
 * and turns every failure into a GatewayError. An instance remembers which base URL was found dead.
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
		const { clock, random, signal, limiter } = this.runtime;
		const { retries } = call;
		/** The first try that may have been accepted: no later refusal makes that undone. */
		let doubtful: GatewayError | undefined;
		for (let tries = 1; ; tries++) {
			const attempt = async () => {
				// Stop may have been pressed while the request waited for its turn.
				if (signal?.aborted) throw stopped(doubtful);
				return await this.try(call).catch(asGatewayError);
			};
			// A poll has a schedule of its own.
			const isLimited = limiter !== undefined && !call.once;
			const outcome = await (isLimited ? limiter.run(attempt, isRateLimit) : attempt());
			if (!(outcome instanceof GatewayError)) return outcome.value;
			const { failure } = outcome;
			if (failure.billed === 'unknown') doubtful ??= outcome;
			if (signal?.aborted) throw stopped(doubtful);

			const { backupUrl } = this.connection;
			const rules = { tries, hasBackup: backupUrl !== undefined, retries, random: random() };
			const wait = waitBeforeRetry(failure, rules);
			// A poll that never left goes to the other base at once; any other waits for its next turn.
			const waitsForItsTurn = call.once && !(failure.reach === 'unsent' && wait === 0);
			if (wait === undefined || waitsForItsTurn) throw afterDoubt(outcome, doubtful);
			await clock.sleep(wait, signal).catch(() => undefined);
			if (signal?.aborted) throw stopped(doubtful);
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
		const what: RequestInfo = {
			purpose: call.purpose,
			cost: endpoint.cost,
			resendsLost: call.resendIfLost,
		};
		const { http, clock, signal, graceOnStop } = this.runtime;
		const received = await exchange(what, this.request(base, call), {
			http,
			clock,
			signal,
			timeout: call.timeout ?? endpoint.timeoutSeconds * 1000,
			grace: endpoint.cost === 'read' ? undefined : graceOnStop,
			mayLeadToFile: call.mayLeadToFile,
			onText: call.onText,
		}).catch((error: unknown) => {
			const isAnswer = error instanceof GatewayError && error.failure.reach === 'answered';
			// Stop is no answer either: what it interrupts may have been accepted.
			return isAnswer ? error : noAnswer(what, error);
		});
		if (received instanceof GatewayError) {
			if (received.failure.status === 0) this.switchBase(base);
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
		what: RequestInfo,
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
		if (endpoint.isAsync) headers[this.connection.asyncHeaderName] = asyncHeader.value;
		return {
			method: endpoint.method,
			url: base + endpoint.path.replace('{id}', () => encodeURIComponent(id ?? '')),
			headers,
			body: form ?? (body && JSON.stringify(body)),
		};
	}
}

function isRateLimit(outcome: unknown): boolean {
	return outcome instanceof GatewayError && outcome.failure.status === 429;
}

/** An earlier try may have brought the request to the service, whatever became of this one. */
function afterDoubt(error: GatewayError, doubtful: GatewayError | undefined): GatewayError {
	if (doubtful === undefined) return error;
	const { billed, remedies } = doubtful.failure;
	return error.with({ billed, remedies });
}
