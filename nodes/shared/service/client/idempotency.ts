import { createHash } from 'crypto';
import { GatewayError, type Failure } from '../errors/gatewayError';
import type { Connection } from './connection';

/** The protection of one order across all its tries. */
export interface Idempotency {
	/** See {@link idempotencyKeyOf}. */
	idempotencyKey?: string;
	/** The failure of an earlier try with this key, which the service may have accepted. */
	earlierFailure?: Failure;
	/** Called before it is sent again although the first request may have made something. @returns why it must not */
	countResend?(): Promise<string | undefined>;
	/** Called when a response arrived after an earlier request that may have been accepted, too. */
	sentTwice?(): void;
}

/**
 * The idempotency key of an order: a UUID, which any service should accept. Another header or base URL gets another
 * key, because the earlier tries are unknown there. Undefined when the service has no keys.
 * @param orderId the same in each try of the order, and different for every other order
 */
export function idempotencyKeyOf(
	orderId: string,
	{ idempotencyHeaderName, baseUrl }: Connection,
): string | undefined {
	if (idempotencyHeaderName === undefined) return undefined;
	const named = JSON.stringify([orderId, idempotencyHeaderName.toLowerCase(), baseUrl]);
	const hash = createHash('sha256').update(named).digest('hex');
	// Version and variant of RFC 9562, because some services check them.
	return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5');
}

/** The tries of one call that the service may have accepted. No later refusal undoes them. */
export class UnclearTries {
	/** The failure of the first of them, which may be that of an earlier call for the same order. */
	first?: GatewayError;
	private count = 0;
	/** How many requests are counted as orders: the first one was, before this call. */
	private counted = 1;

	constructor(private readonly idempotency: Idempotency) {
		const { earlierFailure } = idempotency;
		this.first = earlierFailure && new GatewayError(earlierFailure);
	}

	add(error: GatewayError): void {
		if (error.failure.billed !== 'unknown') return;
		this.first ??= error;
		this.count++;
	}

	succeed(): void {
		const { idempotencyKey, sentTwice } = this.idempotency;
		if (this.count > 0 && idempotencyKey === undefined) sentTwice?.();
	}

	/** Counts the next try as another order. @throws GatewayError the first failure, when there must be no other */
	async countResend(): Promise<void> {
		const { idempotencyKey, countResend } = this.idempotency;
		if (!this.first || this.count < this.counted || idempotencyKey !== undefined) return;
		const advice = await countResend?.();
		if (advice !== undefined) throw this.errorOf(this.first).with({ advice });
		this.counted++;
	}

	/** The error of a call whose last try failed with this one: an earlier try may have been accepted all the same. */
	errorOf(error: GatewayError): GatewayError {
		if (!this.first) return error;
		const { billed, cost, idempotencyKey, retry_can_help: firstCanHelp } = this.first.failure;
		const retry_can_help = error.failure.retry_can_help && firstCanHelp;
		return error.with({ billed, cost, idempotencyKey, requests: this.count, retry_can_help });
	}
}
