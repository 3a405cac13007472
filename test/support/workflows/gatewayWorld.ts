import type { Connection } from '../../../nodes/shared/service/client/connection';
import { Gateway } from '../../../nodes/shared/service/client/gateway';
import type { Runtime } from '../../../nodes/shared/service/client/http';
import { GatewayError, type Failure } from '../../../nodes/shared/service/errors/gatewayError';
import { connectionFrom } from '../../../nodes/shared/n8n/client/connection';
import { recordOf, type ErrorRecord } from '../../../nodes/shared/n8n/errors/errorRecord';
import { axiosHttp } from '../http/axiosHttp';
import { SimulatedClock } from '../time/simulatedClock';
import { witness } from '../../../gateway/witness';

export const key = 'sk-0123456789/abcdef+';
witness.emit('key', key);

export interface SimulatedWorld extends Runtime {
	clock: SimulatedClock;
}

export interface WorldOptions {
	/** See {@link SimulatedClock}. */
	patience?: number;
	signal?: AbortSignal;
	/** See {@link Runtime}. */
	graceOnStop?: number;
}

/** Real sockets in simulated time; random numbers are always 0.5. */
export function simulatedWorld({
	patience,
	signal,
	graceOnStop,
}: WorldOptions = {}): SimulatedWorld {
	const clock = new SimulatedClock(patience);
	const during = async <T>(work: Promise<T>) => await clock.during(work);
	const http = axiosHttp({ key, during });
	return { http, clock, random: () => 0.5, signal, graceOnStop };
}

/** @param baseUrl the base URL, or fields of the credential */
export function gatewayTo(
	baseUrl: string | ({ baseUrl: string } & Partial<Connection>),
	options: WorldOptions = {},
): Gateway<SimulatedWorld> {
	const credential = typeof baseUrl === 'string' ? { baseUrl } : baseUrl;
	return new Gateway(connectionFrom({ apiKey: key, ...credential }), simulatedWorld(options));
}

/** The error that this work fails with, which must be one of the gateway layer. */
export async function failureOf(work: Promise<unknown>): Promise<ShownFailure> {
	const outcome: unknown = await work.then(
		() => new Error('the work did not fail'),
		(error: unknown) => error,
	);
	if (outcome instanceof GatewayError) return shown(outcome);
	throw outcome;
}

/** A failure as the user sees it, and as the code sees it. */
interface ShownFailure extends Pick<Failure, 'reach' | 'retryAfter'> {
	message: string;
	record: ErrorRecord;
}

export function shown(error: GatewayError): ShownFailure {
	const record = recordOf(error);
	const { reach, retryAfter } = error.failure;
	return { message: record.message, record, reach, retryAfter };
}
