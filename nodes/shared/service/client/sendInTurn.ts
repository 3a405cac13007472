import { GatewayError, stopped } from '../errors/gatewayError';
import { heldBack } from '../errors/requestErrors';
import type { Endpoint } from '../protocol/endpoints';
import type { Connection } from './connection';
import type { Runtime } from './http';
import { pollInTurn } from './jobTurns';

/** The place of a request in the queue of its key; without `leave` when the credential sets no limit. */
export interface Slot {
	leave?: () => void;
}

export interface InTurn {
	endpoint: Endpoint;
	purpose: string;
	id?: string;
	/** Maximum milliseconds for which other requests and the credential's limits may hold it back. Default: no maximum. */
	patience?: number;
}

/**
 * Sends one try of a request as soon as the credential's limits allow it, and a poll in turn with all others of the job.
 * @param maybeAccepted an earlier try that may have been accepted; Stop reports it
 */
export async function sendInTurn<T extends object>(
	{ endpoint, purpose, id, patience = Infinity }: InTurn,
	{ connection, runtime }: { connection: Connection; runtime: Runtime },
	send: (slot: Slot) => Promise<T | GatewayError>,
	maybeAccepted?: GatewayError,
): Promise<T | GatewayError> {
	const { clock, signal, queue, closing } = runtime;
	const startedAt = clock.now();
	// With one listener per request on a shared signal, Node.js would warn.
	const abortSignals = [signal, closing].filter((each) => each !== undefined);
	const isAborted = () => abortSignals.some(({ aborted }) => aborted);
	const waiting = () => ({
		signal: AbortSignal.any(abortSignals),
		patience: patience - (clock.now() - startedAt),
	});
	const sendQueued = async () => {
		const slot: Slot = { leave: await queue?.enter(waiting()) };
		try {
			// The request may have waited here, or for other requests of the node.
			if (isAborted()) throw stopped(maybeAccepted);
			if (queue && !slot.leave) return heldBack(purpose, 'the limits of the credential');
			return await send(slot);
		} finally {
			slot.leave?.();
		}
	};
	const { isPoll = false, path } = endpoint;
	if (!isPoll) return await sendQueued();
	const job = JSON.stringify([connection.key, connection.baseUrl, id]);
	const outcome = await pollInTurn<T | GatewayError>({ job, path }, clock, waiting, async () => {
		const own = await sendQueued();
		const { reach, kind } = own instanceof GatewayError ? own.failure : {};
		const isHeldBack = kind === 'heldBack';
		return {
			outcome: own,
			isShared: !isHeldBack && !isAborted(),
			isSent: !isHeldBack && reach !== 'unsent',
		};
	});
	if (outcome === undefined && isAborted()) throw stopped(maybeAccepted);
	return outcome ?? heldBack(purpose, 'other requests about the same job');
}
