import { maySendKeyTo } from '../client/connection';
import type { FileSource } from '../client/fileRequest';
import {
	linkRefusedStatuses,
	ofStorageHost,
	readBeginning,
	requestFile,
} from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { type HttpResponse, type Runtime } from '../client/http';
import { parseRetryAfter, waitBeforeRetry, type FailedRequest } from '../client/retryPolicy';
import { readWithIdleTimeout } from '../client/timeouts';
import { announcedLength, TransferLimit } from '../client/transferLimit';
import { asGatewayError, GatewayError, stopped } from '../errors/gatewayError';
import { refused, type RequestInfo } from '../errors/requestErrors';
import { excerpt } from '../json';
import { limits } from '../protocol/limits';
import { fileTypeOf, typeToDeliver, videoHeadLength, type FileType } from '../files/fileType';
import { Mp4Boxes } from '../files/mp4';
import { isShortRange, ReceivedPart } from './receivedPart';

export interface DownloadRequest {
	source: FileSource;
	/** Requests a new link to the file from the service, when the old one has expired. */
	refresh: () => Promise<FileSource>;
	/** Continues "Could not …" in errors. */
	purpose: string;
	/** Milliseconds that the user waits for the video. Default: as recommended. */
	timeout?: number;
}

interface Downloaded<T> {
	/** What the store returned. */
	stored: T;
	type: FileType;
	/** Whether it is an mp4 without the index that players need, although all announced bytes have arrived. */
	lacksIndex: boolean;
}

/** Consumes the bytes of a file. */
type Store<T> = (bytes: ByteStream, type: FileType) => Promise<T>;
type ByteStream = AsyncGenerator<Uint8Array, void, undefined>;

const maxRefreshes = 3;

/** How often a transfer may start again from the first byte, when the storage host does not support ranges. */
const maxRestarts = 5;

/** How often a transfer may be interrupted in all, even if each try receives something. */
const maxInterruptions = 100;

/**
 * Downloads a finished video ("Endpoints" 3) by its unchanged link, in constant memory, and without the key unless the
 * gateway itself serves the file. An interrupted transfer resumes where it broke off. The file is complete when the
 * connection ended normally and, for an mp4 or QuickTime file, the last box ends with the last byte. Without its index,
 * such a file is complete only if its length was announced. It is limited as {@link TransferLimit} says.
 * @param store consumes the bytes once their type is known; called again, from the first byte, when the storage host
 * cannot resume
 * @throws GatewayError
 */
export async function downloadVideo<T>(
	gateway: Gateway,
	request: DownloadRequest,
	store: Store<T>,
): Promise<Downloaded<T>> {
	// The transfer must end with the store, which may fail while the storage host sends nothing.
	const ended = new AbortController();
	const stop = gateway.runtime.signal;
	const signal = AbortSignal.any([ended.signal, ...(stop ? [stop] : [])]);
	const transfer = new Transfer(gateway.withSignal(signal), request);
	for (let restarts = 0; ; restarts++) {
		const outcome = await transfer.passTo(store).then(
			(downloaded) => ({ downloaded }),
			// The store may have wrapped the error of the transfer, which knows the original cause.
			(error: unknown) => ({ error: transfer.failure ?? error }),
		);
		if (!('error' in outcome && outcome.error instanceof RestartTransfer)) ended.abort();
		if (stop?.aborted) throw transfer.collectLaterError(stopped());
		if ('downloaded' in outcome) return outcome.downloaded;
		if (!(outcome.error instanceof RestartTransfer)) throw outcome.error;
		if (restarts === maxRestarts) throw transfer.incompleteError(outcome.error.message);
	}
}

/** The transfer cannot resume after the bytes received so far, and starts again from the first byte. */
class RestartTransfer extends Error {}

/** Why more bytes are needed. */
interface Interruption {
	reason: string;
	/** Set when the body was no video, so that nothing was passed on: a new link may help. */
	page?: { status: number; headers: Record<string, string>; text: string };
}

class Transfer {
	/** Why the bytes ended early. */
	failure?: unknown;
	private source: FileSource;
	private readonly requestInfo: RequestInfo;
	private readonly runtime: Runtime;
	private readonly limit: TransferLimit;
	/** The bytes passed on so far. */
	private received = new ReceivedPart();
	/** Unknown until the first bytes have arrived. */
	private type?: FileType;
	private boxes = new Mp4Boxes();
	private refreshes = 0;
	private interruptions = 0;
	/** Tries since the last one that received bytes, including that one. */
	private emptyTries = 0;
	/** Why the last try was not enough. */
	private reason = '';
	/** The offset at which the transfer last broke off although the boxes were complete. */
	private completeAt?: number;

	constructor(
		private readonly gateway: Gateway,
		private readonly request: DownloadRequest,
	) {
		this.source = request.source;
		this.runtime = gateway.runtime;
		this.limit = new TransferLimit(
			this.runtime.clock,
			request.timeout ?? limits.waitMinutes * 60_000,
		);
		this.requestInfo = { purpose: request.purpose, cost: 'read' };
	}

	/** Passes the bytes on, from the first one, as soon as their type is known. */
	async passTo<T>(store: Store<T>): Promise<Downloaded<T>> {
		const bytes = this.bytes();
		const first = await bytes.next();
		const { type } = this;
		if (first.done || type === undefined) throw this.incompleteError('no data arrived');
		try {
			const stored = await store(prepend(first.value, bytes), type);
			return { stored, type, lacksIndex: this.lacksIndex };
		} finally {
			// A store that fails may leave bytes unread. They may still be on their way, so nothing waits for them.
			bytes.return().catch(() => undefined);
		}
	}

	private async *bytes(): ByteStream {
		this.received = new ReceivedPart();
		this.type = undefined;
		this.boxes = new Mp4Boxes();
		this.failure = undefined;
		try {
			for (;;) {
				const before = this.received.length;
				const response = await this.open();
				const interruption = response && (yield* this.forward(response));
				if (interruption === undefined) return;
				await this.recover(interruption, this.received.length > before);
			}
		} catch (error) {
			this.failure = error;
		}
		throw this.failure;
	}

	/** Yields the bytes of one response; returns undefined when the file is complete. */
	private async *forward(
		response: HttpResponse,
	): AsyncGenerator<Uint8Array, Interruption | undefined, undefined> {
		const { runtime, limit, received } = this;
		/** Not passed on yet: the type must be known first. */
		const pending: Uint8Array[] = [];
		let pendingBytes = 0;
		const passOn = () => {
			received.length += pendingBytes;
			pendingBytes = 0;
			return pending.splice(0);
		};
		let failure: unknown;
		let excess = limit.announce(announcedLength(response));
		const { idleTimeout } = limit;
		try {
			for await (const bytes of readWithIdleTimeout(response, { ...runtime, idleTimeout })) {
				this.boxes.push(bytes);
				pending.push(bytes);
				pendingBytes += bytes.length;
				excess ??= limit.excess(received.length + pendingBytes);
				if (excess !== undefined) break;
				if (this.type === undefined && pendingBytes < videoHeadLength) continue;
				if (!this.recognize(pending, response)) break;
				yield* passOn();
			}
		} catch (error) {
			failure = error;
		}
		if (excess !== undefined) throw this.incompleteError(`the file ${excess}`);
		// A transfer that broke off early is passed on only if its type is sure.
		const isEnough = failure === undefined ? pendingBytes > 0 : fileTypeOf(Buffer.concat(pending));
		if (this.type === undefined && isEnough && this.recognize(pending, response)) yield* passOn();
		if (this.type === undefined) return this.nothingPassedOn(pending, response, failure);
		if (failure === undefined) {
			if (!this.boxes.isTruncated && !isShortRange(response)) return this.missingIndex();
			// The announced length was not that of the file.
			received.discardFileLength();
			return { reason: 'the file ends too early' };
		}
		// A storage host may announce more bytes than there are, and then breaks off at the same offset again.
		if (this.boxes.isComplete && this.completeAt === received.length) return undefined;
		if (this.boxes.isComplete) this.completeAt = received.length;
		return { reason: reasonOf(failure) };
	}

	/** Determines the type of the file, unless its first bytes are a text: the page of a storage host is no file. */
	private recognize(head: Uint8Array[], { headers }: HttpResponse): boolean {
		if (this.type) return true;
		const type = typeToDeliver(Buffer.concat(head), headers['content-type']);
		if (type.kind === 'text') return false;
		this.type = type;
		return true;
	}

	private get lacksIndex(): boolean {
		return this.type?.kind !== 'image' && this.boxes.lacksIndex;
	}

	/** An interruption if the file perhaps ended early: its length was not announced, and it has no index. */
	private missingIndex(): Interruption | undefined {
		// Fewer bytes than a box may be the beginning of one.
		const mayBeCut = this.lacksIndex || this.boxes.isMp4 === undefined;
		return mayBeCut && !this.received.hasAnnouncedLength
			? { reason: 'the file ends before its index' }
			: undefined;
	}

	private nothingPassedOn(
		head: Uint8Array[],
		{ status, headers }: HttpResponse,
		failure: unknown,
	): Interruption {
		this.boxes = new Mp4Boxes();
		if (failure !== undefined) return { reason: reasonOf(failure) };
		if (head.length === 0) return { reason: 'no data arrived' };
		const beginning = Buffer.concat(head).subarray(0, 2000);
		const text = this.gateway.redaction.truncated(new TextDecoder().decode(beginning));
		return { reason: `it is no video: ${excerpt(text, 120)}`, page: { status, headers, text } };
	}

	/** Prepares the next try. @throws GatewayError when there is none */
	private async recover({ reason, page }: Interruption, hasProgressed: boolean): Promise<void> {
		this.interruptions++;
		this.emptyTries = hasProgressed ? 1 : this.emptyTries + 1;
		const wait = this.waitAfter(interrupted, this.emptyTries);
		const isOver = wait === undefined || this.interruptions > maxInterruptions;
		const excess = this.limit.excess(this.received.length);
		if (isOver || excess) throw this.incompleteError(excess ? `the file ${excess}` : reason, page);
		this.reason = reason;
		await this.runtime.clock.sleep(wait, this.runtime.signal);
		if (page) await this.renewLink(this.incompleteError(reason, page));
	}

	private waitAfter(failure: FailedRequest, tries: number): number | undefined {
		const request = { cost: 'read', hasBackup: false } as const;
		return waitBeforeRetry(failure, request, { tries, random: this.runtime.random() });
	}

	/** Requests the missing bytes until a response has them; undefined when none are missing. */
	private async open(): Promise<HttpResponse | undefined> {
		const { clock, signal } = this.runtime;
		for (let tries = 1; ;) {
			if (signal?.aborted) throw stopped();
			const { length: offset, etag } = this.received;
			const part = { offset, etag };
			const response = await requestFile(this.gateway, this.requestInfo, this.source, part).catch(
				asGatewayError,
			);
			const refusal =
				response instanceof GatewayError ? response : await this.checkResponse(response);
			if (refusal === undefined) return response as HttpResponse;
			if (refusal === 'complete') return undefined;
			if (refusal.failure.status === 401 && this.mayAddKey) {
				this.source = { ...this.source, authenticated: true };
				continue;
			}
			if (linkRefusedStatuses.has(refusal.failure.status)) {
				await this.renewLink(refusal);
				continue;
			}
			const wait = this.waitAfter(ofStorageHost(refusal.failure), tries++);
			if (wait === undefined) throw this.collectLaterError(refusal);
			await clock.sleep(wait, signal);
		}
	}

	/** Whether the file of a video job is on the gateway itself, which may require the key. */
	private get mayAddKey(): boolean {
		const { url, authenticated, mayNeedKey = false } = this.source;
		return !authenticated && mayNeedKey && maySendKeyTo(url, this.gateway.connection);
	}

	private async renewLink(refusal: GatewayError): Promise<void> {
		if (this.refreshes++ === maxRefreshes) throw this.collectLaterError(refusal);
		this.source = await this.request.refresh();
	}

	/**
	 * Undefined when the response continues where the last one ended.
	 * @throws RestartTransfer when the storage host sends something else instead
	 */
	private async checkResponse(
		response: HttpResponse,
	): Promise<GatewayError | 'complete' | undefined> {
		const content = this.received.classifyResponse(response, this.source.url);
		if (content === 'next') return undefined;
		if (content !== 'refused') {
			response.close();
			if (content === 'end' && !this.boxes.isTruncated) return 'complete';
			const { reason } = this;
			throw new RestartTransfer(`${reason}, and the storage cannot resume a transfer`);
		}
		const { status, headers } = response;
		const text = await readBeginning(response, this.gateway);
		const retryAfter = parseRetryAfter(headers, this.runtime.clock.now());
		const refusal = refused(this.requestInfo, { status, headers, text }, retryAfter);
		if (this.source.authenticated) this.runtime.queue?.applyRateLimitPause(refusal, headers);
		return refusal;
	}

	/** The error with the advice that the video is finished and can be fetched later. */
	collectLaterError(error: GatewayError): GatewayError {
		return error.with({ made: 'video', billed: 'yes', retry_can_help: true, refusal: undefined });
	}

	incompleteError(reason: string, page?: Interruption['page']): GatewayError {
		return new GatewayError({
			message: `Could not ${this.requestInfo.purpose}: ${excerpt(reason)}`,
			made: 'video',
			reach: page ? 'unreadable' : 'lost',
			status: page?.status ?? 0,
			billed: 'yes',
			retry_can_help: true,
			...(page && { raw_body: page.text }),
		});
	}
}

/** The bytes broke off, which costs nothing. */
const interrupted: FailedRequest = { reach: 'lost', status: 0, retry_can_help: true };

async function* prepend(first: Uint8Array, rest: ByteStream): ByteStream {
	yield first;
	yield* rest;
}

function reasonOf(failure: unknown): string {
	return failure instanceof Error ? failure.message : String(failure);
}
