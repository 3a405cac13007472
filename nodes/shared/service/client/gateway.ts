import { asGatewayError, GatewayError, stopped } from '../errors/gatewayError';
import { noResponse, refused } from '../errors/requestErrors';
import { isOutOfReach, isRateLimit } from '../errors/verdict';
import type { Endpoint } from '../protocol/endpoints';
import { requestIdOf } from '../reader/reason';
import type { Connection } from './connection';
import { DryRun } from './dryRun';
import { waitForEventLoop } from './eventLoop';
import { exchange } from './exchange';
import type { Runtime } from './http';
import { UnclearTries, type Idempotency } from './idempotency';
import { unusableError, withoutKey } from './received';
import { Redaction } from './redaction';
import { requestInfoOf, requestOf, type Call } from './request';
import { UnusableResponse, type ServiceResponse } from './response';
import { responseMemory } from './responseMemory';
import { waitBeforeRetry } from './retryPolicy';
import { sendInTurn, type Slot } from './sendInTurn';
import { anySignal } from './timeouts';

export type { Call } from './request';

/** Milliseconds. In less time, a response would hardly arrive. */
const minTryTime = 100;

/** A call, for all of its tries. */
interface Sent<T> {
	call: Call<T>;
	requestInfo: ReturnType<typeof requestInfoOf>;
	/** Milliseconds for one try at each base URL; for all tries of a generation together, without the pauses. */
	timeLeft: Record<string, number>;
}

/**
 * The only client of the service: adds the address and headers, sends, retries as `verdict.ts` says, and turns every
 * failure into a GatewayError. It keeps using the base URL that it could reach last.
 */
export class Gateway<R extends Runtime = Runtime> {
	constructor(
		readonly connection: Connection,
		readonly runtime: R,
		/** The base URL in use; shared with the gateways made from this one. */
		private readonly route = { base: connection.baseUrl },
		readonly redaction = new Redaction(connection.key),
	) {}

	with(changes: Partial<Runtime>): Gateway<R> {
		const runtime = { ...this.runtime, ...changes };
		return new Gateway(this.connection, runtime, this.route, this.redaction);
	}

	/** @throws GatewayError; in a dry run, a DryRun */
	async call<T>(call: Call<T>): Promise<T> {
		const { clock, random, signal, closing, isDry } = this.runtime;
		const { connection, route } = this;
		const { baseUrl, backupUrl = baseUrl } = connection;
		const { endpoint, retries, once, timeout = endpoint.timeoutSeconds * 1000 } = call;
		const idempotency = this.idempotencyOf(endpoint);
		if (isDry)
			throw new DryRun(requestOf(call, connection, { ...idempotency, ...route }), this.redaction);
		const requestInfo = requestInfoOf(call, connection, idempotency);
		const timeLeft = { [baseUrl]: timeout, [backupUrl]: timeout };
		const sent = { call, requestInfo, timeLeft };
		const unclear = new UnclearTries(idempotency);
		for (let tries = 1; ; tries++) {
			const outcome = await this.sendTry(sent, unclear.first);
			if (!(outcome instanceof GatewayError)) {
				unclear.succeed();
				return outcome.value;
			}
			const isUnclear = unclear.first !== undefined;
			const policy = { tries, retries, once, random: random() };
			const wait = waitBeforeRetry(outcome.failure, { ...requestInfo, isUnclear }, policy);
			unclear.add(outcome);
			if (signal?.aborted) throw stopped(unclear.first);
			const isOutOfTime = timeLeft[route.base] < minTryTime;
			if (wait === undefined || isOutOfTime || closing?.aborted) throw unclear.errorOf(outcome);
			await unclear.countResend();
			await clock.sleep(wait, anySignal(signal, closing)).catch(() => undefined);
			if (signal?.aborted) throw stopped(unclear.first);
			if (closing?.aborted) throw unclear.errorOf(outcome);
		}
	}

	private async sendTry<T>(sent: Sent<T>, maybeAccepted?: GatewayError) {
		const { limiter } = this.runtime;
		const { call } = sent;
		const send = async (slot: Slot) => await this.sendOnce(sent, slot).catch(asGatewayError);
		const attempt = async () => await sendInTurn(call, this, send, maybeAccepted);
		// Polls have their own schedule, so the limiter does not hold them back.
		return await (limiter && !call.once ? limiter.run(attempt, isOverload) : attempt());
	}

	/** Empty for a read; without keys when this endpoint creates no job, or the service has none. */
	private idempotencyOf({ cost }: Endpoint): Idempotency {
		const { idempotency = {} } = this.runtime;
		if (cost === 'read') return {};
		const knowsKeys = cost === 'job' && this.connection.idempotencyHeaderName !== undefined;
		const { countResend, sentTwice } = idempotency;
		return knowsKeys ? idempotency : { countResend, sentTwice };
	}

	/** Does nothing if another request has switched from this base URL already. */
	private switchBase(base: string): void {
		const { baseUrl, backupUrl } = this.connection;
		if (this.route.base !== base || !backupUrl) return;
		this.route.base = base === baseUrl ? backupUrl : baseUrl;
	}

	private async sendOnce<T>(sent: Sent<T>, slot: Slot): Promise<{ value: T }> {
		const { call, requestInfo, timeLeft } = sent;
		const { base } = this.route;
		const { clock } = this.runtime;
		const startedAt = clock.now();
		const held = responseMemory.share();
		try {
			const request = requestOf(call, this.connection, { base, ...requestInfo });
			const options = { call, requestInfo, timeout: timeLeft[base], held, slot };
			const received = await exchange(request, this, options)
				// A request that Stop interrupted had no response either, and may have been accepted.
				.catch((error: unknown) =>
					noResponse({ ...requestInfo, url: base }, error, this.redaction),
				);
			if (requestInfo.cost === 'generation') timeLeft[base] -= clock.now() - startedAt;
			if (received instanceof GatewayError) {
				this.switchBase(base);
				throw received;
			}
			const response = await withoutKey(received, {
				redaction: this.redaction,
				clock,
				isPoll: call.endpoint.isPoll,
			});
			return { value: await this.resultOf(sent, response, base) };
		} finally {
			held.release();
		}
	}

	/** @throws GatewayError when the response has no result */
	private async resultOf<T>(
		{ call, requestInfo }: Sent<T>,
		response: ServiceResponse,
		base: string,
	): Promise<T> {
		const { clock, queue } = this.runtime;
		const { status, headers, json, redirect } = response;
		const { cost } = requestInfo;
		if (status >= 400 || status < 200) {
			const refusal = refused(requestInfo, response);
			if (isOutOfReach(refusal.failure, cost)) this.switchBase(base);
			queue?.applyRateLimitPause(refusal, headers);
			throw refusal;
		}
		if (redirect && (cost === 'read' || json === undefined)) throw redirect;
		await waitForEventLoop(response.text.length, clock);
		try {
			return await call.parse({ ...response, requestId: requestIdOf(headers, json) });
		} catch (error) {
			const isKnown = error instanceof UnusableResponse;
			if (error instanceof GatewayError || (!isKnown && cost === 'read'))
				throw asGatewayError(error);
			if (redirect) throw redirect;
			await waitForEventLoop(response.text.length, clock);
			// A fault of ours, too: the response is there, so it may be charged.
			const unusable = isKnown ? error : new UnusableResponse(`cannot be read: ${String(error)}`);
			const failure = unusableError(requestInfo, response, unusable, this.redaction);
			queue?.applyRateLimitPause(failure, headers);
			throw failure;
		}
	}
}

const isOverload = (outcome: unknown) =>
	outcome instanceof GatewayError && isRateLimit(outcome.failure);
