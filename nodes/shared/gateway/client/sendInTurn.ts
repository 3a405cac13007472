import { GatewayError, stopped } from '../errors/gatewayError';
import { heldBack } from '../errors/requestErrors';
import type { Endpoint } from '../protocol/endpoints';
import { limits } from '../protocol/limits';
import type { Connection } from './connection';
import type { Runtime } from './http';
import { readShared, type Wish } from './sharedReads';

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
	/** Of a poll: which response to another one will do. */
	reuse?: Pick<Wish, 'since' | 'maxAge'>;
}

/**
 * Sends one try of a request as soon as the credential's limits allow it. A poll is shared with everybody who polls the
 * same job meanwhile.
 * @param maybeAccepted an earlier try that may have been accepted; Stop reports it
 */
export async function sendInTurn<T extends object>(
	{ endpoint, purpose, id, patience = Infinity, reuse }: InTurn,
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
	const sendQueued = async (start = () => {}) => {
		const slot: Slot = { leave: await queue?.enter(waiting()) };
		try {
			// The request may have waited here, or for other requests of the node.
			if (isAborted()) throw stopped(maybeAccepted);
			if (queue && !slot.leave) return heldBack(purpose, 'the limits of the credential');
			start();
			return await send(slot);
		} finally {
			slot.leave?.();
		}
	};
	const { sharedAs, path } = endpoint;
	if (sharedAs === undefined) return await sendQueued();
	const wish = {
		...{ name: [connection.key, connection.baseUrl, sharedAs, id], what: path },
		interval: 1000 * limits.minPollSeconds,
		...reuse,
	};
	const outcome = await readShared<T | GatewayError>(wish, clock, waiting, async (start) => {
		const own = await sendQueued(start);
		if (!(own instanceof GatewayError)) return { outcome: own, sharedWith: 'all', isSent: true };
		const { reach, kind } = own.failure;
		const isHeldBack = kind === 'heldBack';
		return {
			outcome: own,
			// Nobody else has been stopped. Whoever asks after a failure wants another try.
			sharedWith: isHeldBack || isAborted() ? 'nobody' : 'joined',
			isSent: !isHeldBack && reach !== 'unsent',
		};
	});
	if (outcome === undefined && isAborted()) throw stopped(maybeAccepted);
	return outcome ?? heldBack(purpose, 'other requests about the same job');
}
