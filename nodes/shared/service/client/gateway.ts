import { asGatewayError, GatewayError, stopped } from '../errors/gatewayError';
import { otherModelIn } from '../errors/refusal';
import { noResponse, refused, unreadable, type RequestInfo } from '../errors/requestErrors';
import { isOutOfReach, isRateLimit } from '../errors/verdict';
import { jsonTextOf, parseResponse, valueAt } from '../json';
import type { ResponseKind } from '../protocol/bounds';
import { asyncHeader, type Endpoint } from '../protocol/endpoints';
import { reasonIn, requestIdOf } from '../reader/reason';
import { statedRefusal } from '../reader/refusal';
import { read } from '../reader/values';
import { maySendKeyTo, type Connection } from './connection';
import { waitForEventLoop } from './eventLoop';
import { exchange, type ExchangeOptions, type RawResponse } from './exchange';
import type { Runtime } from './http';
import { DryRun } from './dryRun';
import type { Idempotency } from './idempotency';
import { sendInTurn, type InTurn, type Slot } from './sendInTurn';
import { Redaction } from './redaction';
import { OtherJobResponse, UnusableResponse, type ServiceResponse } from './response';
import { responseMemory, type HeldBytes } from './responseMemory';
import { minTryTime, TimeBudget } from './timeouts';
import { parseRetryAfter, waitBeforeRetry } from './retryPolicy';

/** `purpose` continues "Could not …" in errors, and `id` replaces `{id}` in the path. */
export interface Call<T> extends InTurn {
	/** Sent as JSON. */
	body?: object;
	/** Sent as a multipart form, instead of a body. */
	form?: FormData;
	/** Milliseconds for one try; of a generation, for all tries together. Default: the endpoint's. */
	timeout?: number;
	/** Whether the user wants it sent again when its response was lost. Default: as its cost says. */
	resendsLost?: boolean;
	/** Maximum number of retries. Default: as `verdict.ts` says. */
	retries?: number;
	/** True for polls: the next poll serves as the retry. */
	once?: boolean;
	/** The response may be a redirect to a file, or the file itself. */
	mayLeadToFile?: boolean;
	/** What the response may carry. Default: as its endpoint says. */
	response?: ResponseKind;
	/** Sent in addition to the headers of every request. */
	headers?: Record<string, string>;
	/** Called with each chunk of a 2xx body as it arrives; returns true when no more is needed. */
	onText?: ExchangeOptions['onText'];
	/** Extracts what is needed from a response; throws {@link UnusableResponse} when it is not there. */
	parse: (response: ServiceResponse) => T | Promise<T>;
}

/**
 * The only client of the service: adds the address and headers, sends, retries as `verdict.ts`
 * says, and turns every failure into a GatewayError. It keeps using the base URL that it could reach last.
 */
export class Gateway<R extends Runtime = Runtime> {
	constructor(
		readonly connection: Connection,
		readonly runtime: R,
		/** The base URL in use; shared with the gateways made from this one. */
		private readonly route = { base: connection.baseUrl },
		private readonly idempotency: Idempotency = {},
		readonly redaction = new Redaction(connection.key),
	) {}

	/** The same gateway with another signal, for a part of the work that can be aborted separately. */
	withSignal(signal: AbortSignal): Gateway<R> {
		return this.copy({ ...this.runtime, signal });
	}

	/** The same gateway for a dry run: each call throws a {@link DryRun} instead of sending. */
	asDryRun(): Gateway<R> {
		return this.copy({ ...this.runtime, isDry: true });
	}

	/** The same gateway for one item: the request that creates its job carries its idempotency key. */
	withIdempotency(idempotency: Idempotency): Gateway<R> {
		return this.copy(this.runtime, idempotency);
	}

	private copy(runtime: R, idempotency = this.idempotency): Gateway<R> {
		return new Gateway(
			...([this.connection, runtime, this.route, idempotency, this.redaction] as const),
		);
	}

	/** @throws GatewayError; in a dry run, a DryRun */
	async call<T>(call: Call<T>): Promise<T> {
		if (this.runtime.isDry) throw new DryRun(this.request(this.route.base, call), this.redaction);
		const { clock, random, signal, closing, limiter } = this.runtime;
		const { endpoint } = call;
		const { earlierFailure, idempotencyKey, countResend, sentTwice } = this.idempotencyOf(endpoint);
		const request = this.infoOf(call);
		const timeout = call.timeout ?? endpoint.timeoutSeconds * 1000;
		const budget = new TimeBudget(timeout, clock, { isShared: endpoint.cost === 'generation' });
		/** The first try that may have been accepted; no later refusal undoes that. */
		let maybeAccepted = earlierFailure && new GatewayError(earlierFailure);
		/** Requests that may have been accepted, and how many of them are counted as orders. */
		let [unclear, counted] = [0, 1];
		for (let tries = 1; ; tries++) {
			const attempt = async () => {
				const send = async (slot: Slot) => {
					const held = responseMemory.share();
					const received = this.sendOnce(call, { slot, budget, held });
					return await received.catch(asGatewayError).finally(() => held.release());
				};
				return await sendInTurn(call, this, send, maybeAccepted);
			};
			// Polls have their own schedule, so the limiter does not hold them back.
			const isLimited = limiter !== undefined && !call.once;
			const outcome = await (isLimited ? limiter.run(attempt, isOverload) : attempt());
			if (!(outcome instanceof GatewayError)) {
				if (unclear > 0 && idempotencyKey === undefined) sentTwice?.();
				return outcome.value;
			}
			const { failure } = outcome;
			const rules = { tries, retries: call.retries, random: random() };
			const isUnclear = maybeAccepted !== undefined;
			const wait = waitBeforeRetry(failure, { ...request, isUnclear }, rules);
			if (failure.billed === 'unknown') {
				maybeAccepted ??= outcome;
				unclear++;
			}
			if (signal?.aborted) throw stopped(maybeAccepted);

			// A poll that was never sent goes to the other base URL at once. After any other failure, the next poll is due.
			const waitsForNextPoll = call.once && !(failure.reach === 'unsent' && wait === 0);
			const isOver =
				waitsForNextPoll || closing?.aborted || budget.left(this.route.base) < minTryTime;
			if (wait === undefined || isOver) throw withEarlierOutcome(outcome, maybeAccepted, unclear);
			if (maybeAccepted && unclear >= counted && idempotencyKey === undefined) {
				const advice = await countResend?.();
				if (advice !== undefined) {
					throw withEarlierOutcome(maybeAccepted, maybeAccepted, counted).with({ advice });
				}
				counted++;
			}
			// Made only here: most of thousands of calls never pause.
			const waiting = AbortSignal.any([signal, closing].filter((each) => each !== undefined));
			await clock.sleep(wait, waiting).catch(() => undefined);
			if (signal?.aborted) throw stopped(maybeAccepted);
			if (closing?.aborted) throw withEarlierOutcome(outcome, maybeAccepted, unclear);
		}
	}

	/** Empty for a read; without keys when this endpoint creates no job, or the service has none. */
	private idempotencyOf({ cost }: Endpoint): Idempotency {
		if (cost === 'read') return {};
		const knowsKeys = cost === 'job' && this.connection.idempotencyHeaderName !== undefined;
		const { countResend, sentTwice } = this.idempotency;
		return knowsKeys ? this.idempotency : { countResend, sentTwice };
	}

	/** Switches to the other base URL, unless another request has done so already. */
	private switchBase(base: string): void {
		const { baseUrl, backupUrl } = this.connection;
		if (this.route.base !== base || !backupUrl) return;
		this.route.base = base === baseUrl ? backupUrl : baseUrl;
	}

	/** What a failure of this call depends on. */
	private infoOf(call: Call<unknown>): RequestInfo {
		const { endpoint, purpose, resendsLost } = call;
		return {
			...{ purpose, resendsLost, cost: endpoint.cost, media: mediaOf(endpoint, call) },
			idempotencyKey: this.idempotencyOf(endpoint).idempotencyKey,
			otherModel: otherModelIn(endpoint, call),
			hasBackup: this.connection.backupUrl !== undefined,
		};
	}

	/** @param slot the request's place in the queue; each redirect replaces it by its own */
	private async sendOnce<T>(
		call: Call<T>,
		{ slot, budget, held }: { slot: Slot; budget: TimeBudget; held: HeldBytes },
	): Promise<{ value: T }> {
		const { endpoint } = call;
		const { base } = this.route;
		const requestInfo = { ...this.infoOf(call), url: base };
		const timeout = budget.left(base);
		const startedAt = this.runtime.clock.now();
		const { http, clock, signal, graceOnStop, queue } = this.runtime;
		const rawResponse = await exchange(requestInfo, this.request(base, call), {
			http,
			clock,
			signal,
			timeout,
			grace: endpoint.cost === 'read' ? undefined : graceOnStop,
			maySendKeyTo: (address) => maySendKeyTo(address, this.connection),
			redaction: this.redaction,
			mayLeadToFile: call.mayLeadToFile,
			...{ kind: call.response ?? endpoint.response, held },
			onRedirect: async (innerSignal) => {
				slot.leave?.();
				slot.leave = await queue?.enter({ signal: innerSignal });
			},
			onText: call.onText,
		})
			// A request that Stop interrupted had no response either, and may have been accepted.
			.catch((error: unknown) => noResponse(requestInfo, error, this.redaction))
			.finally(() => budget.spend(base, startedAt));
		if (rawResponse instanceof GatewayError) {
			this.switchBase(base);
			throw rawResponse;
		}

		const response = await this.redacted(rawResponse);
		const { status, headers, json } = response;
		if (status >= 400 || status < 200) {
			const refusal = refused(requestInfo, response, parseRetryAfter(headers, clock.now()));
			if (isOutOfReach(refusal.failure, endpoint.cost)) this.switchBase(base);
			queue?.applyRateLimitPause(refusal, headers);
			throw refusal;
		}
		const { redirect } = response;
		if (redirect && (endpoint.cost === 'read' || json === undefined)) throw redirect;
		await this.letOthersRun(response);
		try {
			const value = await call.parse({ ...response, requestId: requestIdOf(headers, json) });
			return { value };
		} catch (error) {
			if (!(error instanceof UnusableResponse)) throw asGatewayError(error);
			if (redirect) throw redirect;
			await this.letOthersRun(response);
			const unusable = this.unusableError(requestInfo, response, error);
			queue?.applyRateLimitPause(unusable, headers);
			throw unusable;
		}
	}

	/** The response without the key, wherever the service echoes it. */
	private async redacted(response: RawResponse): Promise<ServiceResponse> {
		const { redaction } = this;
		await this.letOthersRun(response);
		const { headers, url, location } = response;
		const head = { headers, url, location };
		const cleanHead = redaction.json(head);
		const isWhole = response.broken === undefined && response.excess === undefined;
		const text = isWhole ? redaction.text(response.text) : redaction.truncated(response.text);
		await this.letOthersRun(response);
		// The text of an error may have exceeded the bounds, and nothing says so.
		const isBounded = response.status < 400 && response.excess === undefined;
		const parsed = parseResponse(response.text, isBounded);
		// A key written with \u escapes may appear only once the JSON is parsed.
		const mayHoldKey = text !== response.text || text.includes('\\u');
		if (mayHoldKey) await this.letOthersRun(response);
		const json = mayHoldKey ? redaction.json(parsed) : parsed;
		const isRedacted = cleanHead !== head || text !== response.text || json !== parsed;
		const shownText = json === parsed ? text : JSON.stringify(json);
		return { ...response, ...cleanHead, text: shownText, json, isRedacted };
	}

	/** Each step of reading a large response takes long, so other work runs between them. */
	private async letOthersRun({ text }: RawResponse): Promise<void> {
		await waitForEventLoop(text.length, this.runtime.clock);
	}

	/** Some gateways put an error into a 2xx response. Text that arrived before the error may be charged. */
	private unusableError(
		requestInfo: RequestInfo,
		response: ServiceResponse,
		unusable: UnusableResponse,
	): GatewayError {
		const { redaction } = this;
		const { partialText: rawText = '' } = unusable;
		const partialText = redaction.truncated(rawText);
		// A key that is split over several chunks is split in the raw response too, where it cannot be redacted.
		const shownResponse = partialText === rawText ? response : { ...response, text: '' };
		const errorBody =
			unusable.error === undefined ? undefined : redaction.json({ error: unusable.error });
		const isOfOtherJob = unusable instanceof OtherJobResponse;
		const error = isOfOtherJob ? undefined : valueAt(errorBody ?? response.json, 'error');
		const retryAfter = parseRetryAfter(response.headers, this.runtime.clock.now());
		if (partialText === '' && reasonIn(read({ error }))) {
			const shown = { ...response, text: JSON.stringify(errorBody), json: errorBody };
			return refused(requestInfo, errorBody ? shown : response, retryAfter);
		}
		const isWhole = response.broken === undefined && response.excess === undefined;
		const mayBeStated =
			isWhole && !isOfOtherJob && partialText === '' && requestInfo.cost !== 'read';
		if (mayBeStated && statedRefusal(response.json, requestInfo.cost))
			return refused(requestInfo, response, retryAfter);
		const { broken, excess } = response;
		const incomplete = excess !== undefined ? 'excess' : broken !== undefined ? 'cut' : undefined;
		return unreadable(requestInfo, shownResponse, redaction.text(unusable.message), {
			...{ partialText, error, kind: incomplete ?? unusable.refusal },
		});
	}

	private request(base: string, { endpoint, id, body, form, ...call }: Call<unknown>) {
		const headers: Record<string, string> = { Accept: 'application/json', ...call.headers };
		if (body) headers['Content-Type'] = 'application/json';
		const { asyncHeaderName, idempotencyHeaderName } = this.connection;
		if (endpoint.isAsync) headers[asyncHeaderName] = asyncHeader.value;
		const { idempotencyKey } = this.idempotencyOf(endpoint);
		if (idempotencyHeaderName && idempotencyKey) headers[idempotencyHeaderName] = idempotencyKey;
		return {
			method: endpoint.method,
			url: base + endpoint.path.replace('{id}', () => encodeURIComponent(id ?? '')),
			headers,
			body: form ?? (body && jsonTextOf(body)),
		};
	}
}

/** Whether the body has reference media, where the endpoint needs them ("Endpoints" 1). */
function mediaOf({ fields }: Endpoint, { body }: { body?: object }): RequestInfo['media'] {
	const name = 'input.media';
	if (fields?.[name]?.required !== true) return undefined;
	const media = valueAt(body, name) ?? [];
	return Array.isArray(media) && media.length === 0 ? 'none' : 'given';
}

const isOverload = (outcome: unknown) =>
	outcome instanceof GatewayError && isRateLimit(outcome.failure);

/** Keeps the unknown outcome of an earlier try: the service may have accepted it, however this try failed. */
function withEarlierOutcome(
	error: GatewayError,
	maybeAccepted: GatewayError | undefined,
	requests: number,
): GatewayError {
	if (maybeAccepted === undefined) return error;
	const { billed, cost, idempotencyKey } = maybeAccepted.failure;
	const retry_can_help = error.failure.retry_can_help && maybeAccepted.failure.retry_can_help;
	return error.with({ billed, cost, idempotencyKey, requests, retry_can_help });
}
