import { GatewayError, stopped } from '../errors/gatewayError';
import { responseHidden } from '../errors/requestErrors';
import type { FailedRequest } from '../errors/verdict';
import { fileTypeOf, headLength, typeToDeliver, type FileType } from '../files/fileType';
import { excerpt } from '../json';
import { maxInterruptions, maxTransferRestarts } from '../protocol/bounds';
import { readBody, type FileResponse } from './fileRequest';
import { FileLink, RestartTransfer, type Setback } from './fileLink';
import type { Gateway } from './gateway';
import { isShortRange, ReceivedPart } from './receivedPart';
import { waitBeforeRetry } from './retryPolicy';
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
	private readonly link: FileLink;
	/** Ends this try of the transfer. */
	private ended = new AbortController();
	/** The bytes passed on so far. */
	private received = new ReceivedPart();
	/** Unknown until the first bytes have arrived. */
	private file?: { type: FileType; end: End };
	private setbacks = 0;
	/** Tries since the last one that received bytes, including that one. */
	private emptyTries = 0;
	/** Where the file last ended, although it was likely whole, or surely cut. */
	private lastEnd?: number;

	constructor(
		private readonly parent: Gateway,
		private readonly request: TransferRequest<End>,
	) {
		this.gateway = parent;
		this.link = new FileLink(request);
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
		for (let reason = ''; ;) {
			const { length } = this.received;
			const setback = yield* this.tryOnce(reason);
			if (setback === undefined) return;
			reason = setback.reason ?? reason;
			await this.recover(setback, this.received.length > length);
		}
	}

	/** Yields the bytes of one response; returns undefined when the file is complete. @param reason why the bytes ended last */
	private async *tryOnce(reason: string): AsyncGenerator<Uint8Array, Setback | undefined> {
		const { received, gateway, request, file } = this;
		if (gateway.runtime.signal?.aborted) throw stopped();
		const answer = await this.link.open(gateway, received, reason);
		if (answer === 'end') {
			if (file?.end.state === 'cut' && !request.takesCut) throw new RestartTransfer(reason);
			return undefined;
		}
		return 'body' in answer ? yield* this.forward(answer) : answer;
	}

	private async *forward(response: FileResponse): AsyncGenerator<Uint8Array, Setback | undefined> {
		const { received, request, gateway } = this;
		const { limit } = request;
		const tooLong = limit.announce(announcedLength(response));
		if (tooLong !== undefined) {
			response.close();
			throw this.incomplete(`the file ${tooLong}`);
		}
		/** Kept until they show what the file is. */
		let head = Buffer.alloc(0);
		const typeOfHead = () => typeToDeliver(head, response.headers['content-type']);
		let failure: unknown;
		let excess: string | undefined;
		try {
			const { idleTimeout } = limit;
			for await (const bytes of readBody(response, { ...gateway.runtime, idleTimeout })) {
				excess = limit.excess(received.length + (this.file ? 0 : head.length) + bytes.length);
				if (excess !== undefined) break;
				if (this.file) {
					yield this.accept(bytes);
					continue;
				}
				head = Buffer.concat([head, bytes]);
				if (head.length < headLength) continue;
				const type = typeOfHead();
				if (type.kind === 'text') break;
				yield this.begin(type, head);
			}
		} catch (error) {
			failure = error;
		}
		if (excess !== undefined) throw this.incomplete(`the file ${excess}`);
		// A transfer that broke off early is passed on only if its type is sure.
		const isEnough = head.length > 0 && (failure === undefined || fileTypeOf(head) !== undefined);
		const type = typeOfHead();
		if (!this.file && isEnough && type.kind !== 'text') yield this.begin(type, head);
		if (failure !== undefined) return this.judgeBreak(failure);
		return this.file ? this.judgeEnd(this.file.end, response) : this.noFile(head, response);
	}

	private begin(type: FileType, head: Uint8Array): Uint8Array {
		this.file = { type, end: this.request.endOf(type) };
		return this.accept(head);
	}

	private accept(bytes: Uint8Array): Uint8Array {
		this.file?.end.push(bytes);
		this.received.length += bytes.length;
		return bytes;
	}

	/** Whether bytes are missing after the connection broke off. */
	private judgeBreak(failure: unknown): Setback | undefined {
		const { length } = this.received;
		const state = this.file?.end.state;
		// A host may announce more bytes than there are, and then breaks off at the same offset again.
		if (state === 'whole' || (state === 'likelyWhole' && this.lastEnd === length)) return undefined;
		if (state === 'likelyWhole') this.lastEnd = length;
		return this.interrupted(failure instanceof Error ? failure.message : String(failure));
	}

	/** Whether bytes are missing although the response was read to its end. */
	private judgeEnd({ state, doubt }: End, response: FileResponse): Setback | undefined {
		const { received, lastEnd } = this;
		const { length, hasAnnouncedLength } = received;
		if (state !== 'cut' && !isShortRange(response)) {
			const isDoubtful = doubt !== undefined && !hasAnnouncedLength;
			return isDoubtful ? this.interrupted(`the file ${doubt}`) : undefined;
		}
		// All that was announced has come, or nothing in response to a request for the rest.
		const isAll = hasAnnouncedLength || response.status === 206;
		if (this.request.takesCut && lastEnd === length && isAll) return undefined;
		this.lastEnd = length;
		// The announced length was not that of the file.
		received.discardFileLength();
		return this.interrupted('the file ends too early');
	}

	/** The response was read to its end, and is no file: it may be the page of a storage host. */
	private noFile(head: Buffer, { status, isHidden }: FileResponse): Setback {
		if (head.length === 0) return this.interrupted('no data arrived');
		const text = this.gateway.redaction.truncated(head.toString('utf8', 0, 2000));
		const shown = isHidden ? responseHidden : excerpt(text, 120);
		const reason = `it is no ${this.request.wanted}${isHidden ? ';' : ':'} ${shown}`;
		const page = { status, text: isHidden ? undefined : text };
		return { ...this.interrupted(reason, page), isLinkOver: true };
	}

	private interrupted(reason: string, page?: Page): Setback {
		return { reason, failed: brokenOff, error: this.incomplete(reason, page) };
	}

	/** Prepares the next try. @throws GatewayError when there is none */
	private async recover(setback: Setback, hasProgressed: boolean): Promise<void> {
		const { failed, error, isLinkOver } = setback;
		const { gateway, request } = this;
		const { clock, signal, random } = gateway.runtime;
		if (failed === undefined) return await this.link.renew(error, gateway);
		this.setbacks++;
		this.emptyTries = hasProgressed ? 1 : this.emptyTries + 1;
		const tries = { tries: this.emptyTries, random: random() };
		const wait = waitBeforeRetry(failed, { cost: 'read', hasBackup: false }, tries);
		const excess = request.limit.excess(this.received.length);
		if (excess) throw this.incomplete(`the file ${excess}`);
		if (wait === undefined || this.setbacks > maxInterruptions) throw error;
		await clock.sleep(wait, signal);
		if (isLinkOver && request.refresh) await this.link.renew(error, gateway);
	}

	incomplete(reason: string, page?: Page): GatewayError {
		const { isTooLarge } = this.request.limit;
		const error = new GatewayError({
			message: `Could not ${this.request.purpose}: ${excerpt(reason)}`,
			reach: page ? 'unreadable' : 'lost',
			status: page?.status ?? 0,
			billed: 'yes',
			retry_can_help: !isTooLarge,
			...(page?.text !== undefined && { raw_body: page.text }),
			...(isTooLarge && { kind: 'excess' as const }),
		});
		return this.request.charged(error);
	}
}

/** A text in place of a file. */
interface Page {
	status: number;
	/** Undefined when it may not be shown. */
	text?: string;
}

/** The bytes broke off, which costs nothing. */
const brokenOff: FailedRequest = { reach: 'lost', status: 0 };
