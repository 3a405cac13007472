import { GatewayError, stopped } from '../errors/gatewayError';
import { heldBack } from '../errors/requestErrors';
import type { Endpoint } from '../protocol/endpoints';
import type { Connection } from './connection';
import type { Runtime } from './http';
import { takeTurn } from './jobTurns';

/** The place of a request in the queue of its key; without `leave` when the credential sets no limit. */
export interface Slot {
	leave?: () => void;
}

/**
 * Sends one try of a request as soon as the last request about the same job and the credential's limits allow it.
 * @param call `patience`: maximum milliseconds for which they may hold it back
 * @param maybeAccepted an earlier try that may have been accepted; Stop reports it
 */
export async function sendInTurn<T extends object>(
	call: { endpoint: Endpoint; purpose: string; id?: string; patience?: number },
	{ connection, runtime }: { connection: Connection; runtime: Runtime },
	send: (slot: Slot) => Promise<T>,
	maybeAccepted?: GatewayError,
): Promise<T | GatewayError> {
	const { clock, signal, queue, closing } = runtime;
	const { endpoint, purpose, id = '', patience = Infinity } = call;
	const interval = 1000 * (endpoint.minIntervalSeconds ?? 0);
	const startedAt = clock.now();
	// With one listener per request on a shared signal, Node.js would warn.
	const abortSignals = [signal, closing].filter((each) => each !== undefined);
	const waiting = () => ({
		signal: AbortSignal.any(abortSignals),
		patience: patience - (clock.now() - startedAt),
	});
	const job = { key: connection.key, id, interval };
	const turn = interval > 0 ? await takeTurn(job, clock, waiting) : undefined;
	const slot: Slot = {};
	let isSent = false;
	try {
		const isHeldBack = interval > 0 && turn === undefined;
		if (!isHeldBack) slot.leave = await queue?.enter(waiting());
		// The request may have waited here, or for other requests of the node.
		if (signal?.aborted || closing?.aborted) throw stopped(maybeAccepted);
		if (isHeldBack) return heldBack(purpose, 'other requests about the same job');
		if (queue && !slot.leave) return heldBack(purpose, 'the limits of the credential');
		turn?.start();
		const outcome = await send(slot);
		isSent = !(outcome instanceof GatewayError && outcome.failure.reach === 'unsent');
		return outcome;
	} finally {
		slot.leave?.();
		turn?.end(isSent);
	}
}
