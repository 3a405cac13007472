import { createHash } from 'crypto';
import type { Failure } from '../errors/gatewayError';
import type { Connection } from './connection';

/** By what the service recognises the creation of one job, over all its tries. */
export interface Idempotency {
	/** The same in each try of this job, and another for any other; undefined where the service knows no keys. */
	idempotencyKey?: string;
	/** How an earlier try with this key was lost: the service may have accepted it. */
	earlierFailure?: Failure;
}

/**
 * The key of an order: a UUID, which any service should take. It is another one for another header or base URL, where
 * nobody knows what was sent before.
 * @param orderId the same in each try of the order, and another for any other order
 */
export function idempotencyKeyOf(
	orderId: string,
	{ idempotencyHeaderName, baseUrl }: Connection,
): string | undefined {
	if (idempotencyHeaderName === undefined) return undefined;
	const named = JSON.stringify([orderId, idempotencyHeaderName.toLowerCase(), baseUrl]);
	const hash = createHash('sha256').update(named).digest('hex');
	// Version and variant of RFC 9562, because some services check for them.
	return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5');
}
