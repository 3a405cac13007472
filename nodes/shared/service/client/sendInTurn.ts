import { GatewayError, stopped } from '../errors/gatewayError';
import { heldBack } from '../errors/requestErrors';
import { limits } from '../protocol/limits';
import type { Clock } from './clock';
import type { Call, Sender } from './request';
import { anySignal, isInTime } from './timeouts';

/** The place of a request in its queues. */
export interface Slot {
	/** Leaves the queue of the key. */
	leave?: () => void;
	/** Lets this process poll the job again. */
	endPoll?: (isSent: boolean) => void;
}

/** By job: when this process may poll it again; infinite during a poll. Sorted by the ends of the polls. */
export const nextPolls = new Map<string, number>();

/** "Limits": the minimum between the end of a poll and the next one of the same job, in milliseconds. */
const interval = 1000 * limits.minPollSeconds;

/**
 * Sends one try of a request as soon as the credential's limits allow it, and a poll not too soon after the last one of
 * the job.
 * @param maybeAccepted an earlier try that may have been accepted; Stop reports it
 */
export async function sendInTurn<T extends object>(
	{ endpoint, purpose, id, patience }: Pick<Call<T>, 'endpoint' | 'purpose' | 'id' | 'patience'>,
	{ connection, runtime }: Pick<Sender, 'connection' | 'runtime'>,
	send: (slot: Slot) => Promise<T | GatewayError>,
	maybeAccepted?: GatewayError,
): Promise<T | GatewayError> {
	const { clock, signal, queue, closing } = runtime;
	const slot: Slot = {};
	let holder = 'other requests about the same job';
	const takeTurn = async (turnSignal: AbortSignal) => {
		const job = JSON.stringify([connection.key, connection.baseUrl, id]);
		if (endpoint.isPoll) slot.endPoll = await startPoll(job, clock, turnSignal);
		holder = 'the limits of the credential';
		slot.leave = await queue?.enter({ signal: turnSignal });
		turnSignal.throwIfAborted();
	};
	const mayWait = endpoint.isPoll || queue !== undefined;
	// Node.js would warn of one listener per request on a shared signal.
	const waiting = mayWait && { signal: anySignal(signal, closing), patience };
	const hasTurn = !waiting || (await isInTime(takeTurn, clock, waiting));
	let outcome: T | GatewayError | undefined;
	try {
		// The request may have waited here, or for other requests of the node.
		if (signal?.aborted || closing?.aborted) throw stopped(maybeAccepted);
		outcome = hasTurn ? await send(slot) : heldBack(purpose, holder);
		return outcome;
	} finally {
		slot.leave?.();
		const { reach } = outcome instanceof GatewayError ? outcome.failure : {};
		slot.endPoll?.(hasTurn && reach !== 'unsent');
	}
}

/** Waits until the job may be polled. @returns to be called when the poll is over; an unsent one holds back no other */
async function startPoll(
	job: string,
	clock: Clock,
	signal: AbortSignal,
): Promise<(isSent: boolean) => void> {
	for (let next = nextPolls.get(job); next !== undefined; next = nextPolls.get(job)) {
		// A poll in progress is checked again each interval. A clock that was set back makes no wait longer.
		const left = Math.min(next - clock.now(), interval);
		if (left > 0) await clock.sleep(left, signal);
		if (next < Infinity && nextPolls.get(job) === next) nextPolls.delete(job);
	}
	for (const [other, next] of nextPolls) {
		if (next > clock.now()) break;
		nextPolls.delete(other);
	}
	nextPolls.set(job, Infinity);
	return (isSent) => {
		nextPolls.delete(job);
		if (isSent) nextPolls.set(job, clock.now() + interval);
	};
}
