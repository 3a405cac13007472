import { createHash } from 'crypto';
import type { Failure } from '../errors/gatewayError';
import type { Connection } from './connection';

/** The protection of one order across all its tries. */
export interface Idempotency {
	/** The same in each try of this job, and different for every other job; undefined when the service has no keys. */
	idempotencyKey?: string;
	/** The failure of an earlier try with this key, which the service may have accepted. */
	earlierFailure?: Failure;
	/**
	 * Called before it is sent again although the first request may have made something.
	 * @returns why it must not be; undefined when it may
	 */
	countResend?(): Promise<string | undefined>;
	/** Called when a response arrived after an earlier request that may have been accepted, too. */
	sentTwice?(): void;
}

/**
 * The idempotency key of an order: a UUID, which any service should accept. Another header or base URL gets another
 * key, because the tries sent before are unknown there.
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
