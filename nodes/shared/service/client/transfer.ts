import { stopped } from '../errors/gatewayError';
import type { FileState } from '../files/fileEnd';
import type { FileType } from '../files/fileType';
import { maxTransferRestarts } from '../protocol/bounds';
import { FileBytes } from './fileBytes';
import type { TransferRequest } from './fileLink';
import type { Gateway } from './gateway';
import { anySignal } from './timeouts';

interface Transferred<T> {
	stored: T;
	type: FileType;
	/** Its end, as far as its bytes tell. */
	state: FileState;
}

export type Store<T> = (bytes: AsyncIterable<Uint8Array>, type: FileType) => Promise<T>;

/**
 * Transfers a file ("Endpoints" 3) in constant memory. An interrupted transfer resumes where it broke off.
 * @param store consumes the bytes; called again, from the first byte, when the host cannot resume
 * @throws GatewayError
 */
export async function transferFile<T>(
	gateway: Gateway,
	request: TransferRequest,
	store: Store<T>,
): Promise<Transferred<T>> {
	const file = new FileBytes(gateway, request);
	for (let restarts = 0; ; restarts++) {
		const transferred = await passOn(file, gateway, store).catch((error: unknown) => {
			if (gateway.runtime.signal?.aborted) throw request.charged(stopped());
			if (error !== file.cannotResume || restarts === maxTransferRestarts) throw error;
			return undefined;
		});
		if (transferred) return transferred;
	}
}

async function passOn<T>(
	file: FileBytes,
	gateway: Gateway,
	store: Store<T>,
): Promise<Transferred<T>> {
	const { signal } = gateway.runtime;
	const ended = new AbortController();
	const bytes = file.read(gateway.with({ signal: anySignal(ended.signal, signal) }));
	let failure: unknown;
	const read = async () =>
		await bytes.next().catch((error: unknown) => {
			// A failure after the store has given up is only a consequence of that.
			if (!ended.signal.aborted) failure = error;
			throw error;
		});
	try {
		let first: IteratorResult<Uint8Array, void> | undefined = await read();
		// A generator would let a store that gives up wait for the next byte, which may never come.
		const stream: AsyncIterableIterator<Uint8Array> = {
			[Symbol.asyncIterator]: () => stream,
			next: async () => {
				const next = first ?? (await read());
				first = undefined;
				return next;
			},
			return: async () => {
				ended.abort();
				return { done: true, value: undefined };
			},
		};
		const { type, end } = file.begun;
		return { stored: await store(stream, type), type, state: end.state };
	} catch (error) {
		// The store may have wrapped the error of the transfer.
		throw failure ?? error;
	} finally {
		ended.abort();
		// Bytes may still be on their way, so nothing waits for them.
		bytes.return().catch(() => undefined);
	}
}
