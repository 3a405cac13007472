import { GatewayError, stopped } from '../errors/gatewayError';
import type { FailedRequest } from '../errors/verdict';
import { FileHead } from '../files/fileHead';
import type { FileType } from '../files/fileType';
import { excerpt } from '../json';
import { maxInterruptions, maxTransferRestarts } from '../protocol/bounds';
import type { FileResponse } from './fileRequest';
import { FileRequests, RestartTransfer, waitForFile } from './fileRequests';
import type { Gateway } from './gateway';
import { brokenOff, noFile, type Interruption } from './interruption';
import { isShortRange, ReceivedPart } from './receivedPart';
import { readWithIdleTimeout } from './idleTimeout';
import { announcedLength } from './transferLimit';
import type { FileEnd, Store, Transferred, TransferRequest } from './transferRequest';

/**
 * Transfers a file ("Endpoints" 3) by its unchanged link, in constant memory, and without the key unless the gateway
 * itself serves the file. An interrupted transfer resumes where it broke off. The file is complete when the connection
 * ended normally and nothing shows that bytes are missing.
 * @param store consumes the bytes once their type is known; called again, from the first byte, when the host cannot
 * resume
 * @throws GatewayError
 */
export async function transferFile<T, End extends FileEnd>(
	gateway: Gateway,
	request: TransferRequest<End>,
	store: Store<T>,
): Promise<Transferred<T, End>> {
	const { signal } = gateway.runtime;
	const transfer = new Transfer(gateway, request);
	for (let restarts = 0; ; restarts++) {
		const outcome = await transfer.passTo(store).then(
			(transferred) => ({ transferred }),
			// The store may have wrapped the error of the transfer, which knows the original cause.
			(error: unknown) => ({ error: transfer.failure ?? error }),
		);
		if (signal?.aborted) throw request.charged(stopped());
		if ('transferred' in outcome) return outcome.transferred;
		if (!(outcome.error instanceof RestartTransfer)) throw outcome.error;
		if (restarts === maxTransferRestarts) throw transfer.incomplete(outcome.error.message);
	}
}

class Transfer<End extends FileEnd> {
	/** Why the bytes ended early. */
	failure?: unknown;
	private gateway: Gateway;
	private readonly requests: FileRequests;
	/** Ends this try of the transfer. */
	private ended = new AbortController();
	/** The bytes passed on so far. */
	private received = new ReceivedPart();
	/** Unknown until the first bytes have arrived. */
	private file?: { type: FileType; end: End };
	private interruptions = 0;
	/** Tries since the last one that received bytes, including that one. */
	private emptyTries = 0;
	/** Why the last try was not enough. */
	private reason = '';
	/** Where the file last ended, although it was likely whole, or surely cut. */
	private lastEnd?: number;

	constructor(
		private readonly parent: Gateway,
		private readonly request: TransferRequest<End>,
	) {
		this.gateway = parent;
		this.requests = new FileRequests(request);
	}

	/** Passes the bytes on, from the first one, as soon as their type is known. */
	async passTo<T>(store: Store<T>): Promise<Transferred<T, End>> {
		this.restart();
		const { ended } = this;
		const bytes = this.bytes();
		const read = async () =>
			await bytes.next().catch((error: unknown) => {
				// What fails after the store has given up is only a consequence of that.
				if (!ended.signal.aborted) this.failure = error;
				throw error;
			});
		try {
			let first: IteratorResult<Uint8Array, void> | undefined = await read();
			if (first.done || !this.file) throw this.incomplete('no data arrived');
			// A generator would answer a store that gives up only after the next byte, which may never come. And what a
			// store throws in is no failure of the transfer.
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
				throw: async (error) => {
					ended.abort();
					throw error;
				},
			};
			return { stored: await store(stream, this.file.type), ...this.file };
		} finally {
			ended.abort();
			// Bytes may still be on their way, so nothing waits for them.
			bytes.return().catch(() => undefined);
		}
	}

	private restart(): void {
		const { signal } = this.parent.runtime;
		this.ended = new AbortController();
		this.gateway = this.parent.withSignal(
			AbortSignal.any([this.ended.signal, ...(signal ? [signal] : [])]),
		);
		this.received = new ReceivedPart();
		this.file = undefined;
		this.failure = undefined;
	}

	private async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
		for (;;) {
			const { received, reason, file } = this;
			const before = received.length;
			const arrived = { received, reason, end: file?.end };
			const response = await this.requests.open(this.gateway, arrived);
			const interruption = response && (yield* this.forward(response));
			if (interruption === undefined) return;
			await this.recover(interruption, received.length > before);
		}
	}

	/** Yields the bytes of one response; returns undefined when the file is complete. */
	private async *forward(
		response: FileResponse,
	): AsyncGenerator<Uint8Array, Interruption | undefined, undefined> {
		const { received } = this;
		const { limit, headLength } = this.request;
		const head = new FileHead(headLength, response.headers['content-type']);
		const tooLong = limit.announce(announcedLength(response));
		if (tooLong !== undefined) {
			response.close();
			throw this.incomplete(`the file ${tooLong}`);
		}
		const { idleTimeout } = limit;
		const chunks = readWithIdleTimeout(response, { ...this.gateway.runtime, idleTimeout });
		let failure: unknown;
		/** Only an error of this step is one of the connection. What the store throws in comes in at a `yield`. */
		const read = async () =>
			await chunks.next().catch((error: unknown) => {
				failure = error;
				return undefined;
			});
		try {
			for (let chunk = await read(); chunk?.done === false; chunk = await read()) {
				const bytes = chunk.value;
				const excess = limit.excess(received.length + head.length + bytes.length);
				if (excess !== undefined) throw this.incomplete(`the file ${excess}`);
				if (this.file) yield this.accept(bytes, this.file);
				else {
					head.push(bytes);
					const type = head.typeSoFar;
					if (type?.kind === 'text') break;
					if (type) yield* this.begin(head, type);
				}
			}
		} finally {
			await chunks.return();
		}
		// A transfer that broke off early is passed on only if its type is sure.
		const isEnough = head.length > 0 && (failure === undefined || head.isSure);
		if (!this.file && isEnough && head.type.kind !== 'text') yield* this.begin(head, head.type);
		const { wanted } = this.request;
		const { redaction } = this.gateway;
		if (failure !== undefined)
			return this.file ? this.judgeBreak(this.file.end, failure) : brokenOff(failure);
		return this.file
			? this.judgeEnd(this.file.end, response)
			: noFile(head, response, { wanted, redaction });
	}

	/** Yields the bytes that were kept until the type was known. */
	private *begin(head: FileHead, type: FileType): Generator<Uint8Array> {
		const file = { type, end: this.request.endOf(type) };
		this.file = file;
		for (const bytes of head.release()) yield this.accept(bytes, file);
	}

	private accept(bytes: Uint8Array, { end }: { end: End }): Uint8Array {
		end.push(bytes);
		this.received.length += bytes.length;
		return bytes;
	}

	/** Whether bytes are missing after the connection broke off. */
	private judgeBreak({ isWhole }: End, failure: unknown): Interruption | undefined {
		const { length } = this.received;
		// A host may announce more bytes than there are, and then breaks off at the same offset again.
		if (isWhole === true || (isWhole && this.lastEnd === length)) return undefined;
		if (isWhole) this.lastEnd = length;
		return brokenOff(failure);
	}

	/** Whether bytes are missing although the response was read to its end. */
	private judgeEnd({ isCut, doubt }: End, response: FileResponse): Interruption | undefined {
		const { received, lastEnd } = this;
		const { length, hasAnnouncedLength } = received;
		if (!isCut && !isShortRange(response)) {
			const isDoubtful = doubt !== undefined && !hasAnnouncedLength;
			return isDoubtful ? { reason: `the file ${doubt}` } : undefined;
		}
		// All that was announced has come, or nothing in response to a request for the rest.
		const isAll = hasAnnouncedLength || response.status === 206;
		if (this.request.takesCut && lastEnd === length && isAll) return undefined;
		this.lastEnd = length;
		// The announced length was not that of the file.
		received.discardFileLength();
		return { reason: 'the file ends too early' };
	}

	/** Prepares the next try. @throws GatewayError when there is none */
	private async recover({ reason, page }: Interruption, hasProgressed: boolean): Promise<void> {
		const { clock, signal } = this.gateway.runtime;
		this.interruptions++;
		this.emptyTries = hasProgressed ? 1 : this.emptyTries + 1;
		const wait = waitForFile(interrupted, this.emptyTries, this.gateway);
		const isOver = wait === undefined || this.interruptions > maxInterruptions;
		const excess = this.request.limit.excess(this.received.length);
		if (isOver || excess) throw this.incomplete(excess ? `the file ${excess}` : reason, page);
		this.reason = reason;
		await clock.sleep(wait, signal);
		if (page && this.request.refresh)
			await this.requests.renewLink(this.incomplete(reason, page), this.gateway);
	}

	incomplete(reason: string, page?: Interruption['page']): GatewayError {
		const { isTooLarge } = this.request.limit;
		const error = new GatewayError({
			message: `Could not ${this.request.purpose}: ${excerpt(reason)}`,
			reach: page ? 'unreadable' : 'lost',
			status: page?.status ?? 0,
			billed: 'yes',
			retry_can_help: !isTooLarge,
			...(page?.text !== undefined && { raw_body: page.text }),
			...(isTooLarge && { isExcess: true as const }),
		});
		return this.request.charged(error);
	}
}

/** The bytes broke off, which costs nothing. */
const interrupted: FailedRequest = { reach: 'lost', status: 0 };
