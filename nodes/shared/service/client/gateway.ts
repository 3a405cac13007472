import { asGatewayError, GatewayError, stopped } from '../errors/gatewayError';
import { noResponse, refused, type RequestInfo } from '../errors/requestErrors';
import { isOutOfReach, isRateLimit } from '../errors/verdict';
import type { Endpoint } from '../protocol/endpoints';
import { requestIdOf } from '../reader/reason';
import { anySignal } from './anySignal';
import { maySendKeyTo, type Connection } from './connection';
import { DryRun } from './dryRun';
import { waitForEventLoop } from './eventLoop';
import { exchange } from './exchange';
import type { Runtime } from './http';
import type { Idempotency } from './idempotency';
import { unusableError, withoutKey } from './received';
import { Redaction } from './redaction';
import { requestInfoOf, requestOf, type Call } from './request';
import { UnusableResponse, type ServiceResponse } from './response';
import { responseMemory } from './responseMemory';
import { parseRetryAfter, waitBeforeRetry } from './retryPolicy';
import { sendInTurn, type Slot } from './sendInTurn';
import { minTryTime, TimeBudget } from './timeouts';
import { UnclearTries } from './unclearTries';

export type { Call } from './request';

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
		return new Gateway(this.connection, runtime, this.route, idempotency, this.redaction);
	}

	/** @throws GatewayError; in a dry run, a DryRun */
	async call<T>(call: Call<T>): Promise<T> {
		if (this.runtime.isDry) throw new DryRun(this.requestTo(this.route.base, call), this.redaction);
		const { clock, random, signal, closing } = this.runtime;
		const { endpoint, retries, once } = call;
		const idempotency = this.idempotencyOf(endpoint);
		const request = requestInfoOf(call, this.connection, idempotency);
		const timeout = call.timeout ?? endpoint.timeoutSeconds * 1000;
		const budget = new TimeBudget(timeout, clock, { isShared: endpoint.cost === 'generation' });
		const unclear = new UnclearTries(idempotency);
		for (let tries = 1; ; tries++) {
			const outcome = await this.sendTry(call, budget, unclear.first);
			if (!(outcome instanceof GatewayError)) {
				unclear.succeed();
				return outcome.value;
			}
			const isUnclear = unclear.first !== undefined;
			const policy = { tries, retries, once, random: random() };
			const wait = waitBeforeRetry(outcome.failure, { ...request, isUnclear }, policy);
			unclear.add(outcome);
			if (signal?.aborted) throw stopped(unclear.first);
			const isOutOfTime = budget.left(this.route.base) < minTryTime;
			if (wait === undefined || isOutOfTime || closing?.aborted) throw unclear.errorOf(outcome);
			await unclear.countResend();
			// Made only here: most of thousands of calls never pause.
			await clock.sleep(wait, anySignal(signal, closing)).catch(() => undefined);
			if (signal?.aborted) throw stopped(unclear.first);
			if (closing?.aborted) throw unclear.errorOf(outcome);
		}
	}

	/** Sends one try as soon as all limits allow it. */
	private async sendTry<T>(call: Call<T>, budget: TimeBudget, maybeAccepted?: GatewayError) {
		const { limiter } = this.runtime;
		const send = async (slot: Slot) =>
			await this.sendOnce(call, slot, budget).catch(asGatewayError);
		const attempt = async () => await sendInTurn(call, this, send, maybeAccepted);
		// Polls have their own schedule, so the limiter does not hold them back.
		return await (limiter && !call.once ? limiter.run(attempt, isOverload) : attempt());
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

	private requestTo(base: string, call: Call<unknown>) {
		const { idempotencyKey } = this.idempotencyOf(call.endpoint);
		return requestOf(call, { connection: this.connection, base, idempotencyKey });
	}

	/** @param slot the request's place in the queue; each redirect replaces it by its own */
	private async sendOnce<T>(call: Call<T>, slot: Slot, budget: TimeBudget): Promise<{ value: T }> {
		const { endpoint } = call;
		const { base } = this.route;
		const idempotency = this.idempotencyOf(endpoint);
		const requestInfo = { ...requestInfoOf(call, this.connection, idempotency), url: base };
		const { http, clock, signal, graceOnStop, queue } = this.runtime;
		const startedAt = clock.now();
		const held = responseMemory.share();
		try {
			const received = await exchange(requestInfo, this.requestTo(base, call), {
				http,
				clock,
				signal,
				timeout: budget.left(base),
				grace: endpoint.cost === 'read' ? undefined : graceOnStop,
				maySendKeyTo: (address) => maySendKeyTo(address, this.connection),
				redaction: this.redaction,
				mayLeadToFile: call.mayLeadToFile,
				onText: call.onText,
				kind: call.response ?? endpoint.response,
				held,
				onRedirect: async (innerSignal) => {
					slot.leave?.();
					slot.leave = await queue?.enter({ signal: innerSignal });
				},
			})
				// A request that Stop interrupted had no response either, and may have been accepted.
				.catch((error: unknown) => noResponse(requestInfo, error, this.redaction))
				.finally(() => budget.spend(base, startedAt));
			if (received instanceof GatewayError) {
				this.switchBase(base);
				throw received;
			}
			const response = await withoutKey(received, this.redaction, clock);
			return { value: await this.resultOf(call, requestInfo, response) };
		} finally {
			held.release();
		}
	}

	/** The result of the call, from its response. @throws GatewayError when that is not there */
	private async resultOf<T>(
		call: Call<T>,
		requestInfo: RequestInfo & { url: string },
		response: ServiceResponse,
	): Promise<T> {
		const { clock, queue } = this.runtime;
		const { status, headers, json, redirect } = response;
		const { cost } = requestInfo;
		const retryAfter = parseRetryAfter(headers, clock.now());
		if (status >= 400 || status < 200) {
			const refusal = refused(requestInfo, response, retryAfter);
			if (isOutOfReach(refusal.failure, cost)) this.switchBase(requestInfo.url);
			queue?.applyRateLimitPause(refusal, headers);
			throw refusal;
		}
		if (redirect && (cost === 'read' || json === undefined)) throw redirect;
		await waitForEventLoop(response.text.length, clock);
		try {
			return await call.parse({ ...response, requestId: requestIdOf(headers, json) });
		} catch (error) {
			if (!(error instanceof UnusableResponse)) throw asGatewayError(error);
			if (redirect) throw redirect;
			await waitForEventLoop(response.text.length, clock);
			const failure = unusableError(requestInfo, response, error, {
				redaction: this.redaction,
				retryAfter,
			});
			queue?.applyRateLimitPause(failure, headers);
			throw failure;
		}
	}
}

const isOverload = (outcome: unknown) =>
	outcome instanceof GatewayError && isRateLimit(outcome.failure);
