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
import { asGatewayError, GatewayError, stopped } from '../errors/gatewayError';
import { refused, type RequestInfo } from '../errors/requestErrors';
import { excerpt } from '../json';
import { Mp4Boxes } from './mp4';
import { isShortRange, ReceivedPart } from './receivedPart';
import { headLength, isTextFile, videoTypeOf, type VideoType } from './videoType';

export interface DownloadRequest {
	source: FileSource;
	/** Requests a new link to the file from the service, when the old one has expired. */
	refresh: () => Promise<FileSource>;
	/** Continues "Could not …" in errors. */
	purpose: string;
}

/** Consumes the bytes of a file. */
type Store<T> = (bytes: ByteStream, type: VideoType) => Promise<T>;
type ByteStream = AsyncGenerator<Uint8Array, void, undefined>;

/** Maximum milliseconds without a byte of the body. */
const idleTimeout = 60_000;
const maxRefreshes = 3;

/** How often a transfer may start again from the first byte, when the storage host does not support ranges. */
const maxRestarts = 5;

/** How often a transfer may be interrupted in all, even if each try receives something. */
const maxInterruptions = 100;

/**
 * Downloads a finished video ("Endpoints" 3) by its unchanged link, in constant memory, and without the key unless the
 * gateway itself serves the file. An interrupted transfer resumes where it broke off. The file is complete when the
 * connection ended normally and, for an mp4 or QuickTime file, the last box ends with the last byte.
 * @param store consumes the bytes once their kind is known; called again, from the first byte, when the storage host
 * cannot resume
 * @throws GatewayError
 */
export async function downloadVideo<T>(
	gateway: Gateway,
	request: DownloadRequest,
	store: Store<T>,
): Promise<T> {
	// The transfer must end with the store, which may fail while the storage host sends nothing.
	const ended = new AbortController();
	const stop = gateway.runtime.signal;
	const signal = AbortSignal.any([ended.signal, ...(stop ? [stop] : [])]);
	const transfer = new Transfer(gateway.withSignal(signal), request);
	for (let restarts = 0; ; restarts++) {
		const outcome = await transfer.passTo(store).then(
			(value) => ({ value }),
			// The store may have wrapped the error of the transfer, which knows the original cause.
			(error: unknown) => ({ error: transfer.failure ?? error }),
		);
		if (!('error' in outcome && outcome.error instanceof RestartTransfer)) ended.abort();
		if (stop?.aborted) throw transfer.collectLaterError(stopped());
		if ('value' in outcome) return outcome.value;
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
	/** The bytes passed on so far. */
	private received = new ReceivedPart();
	/** Unknown until the first bytes have arrived. */
	private type?: VideoType;
	private boxes = new Mp4Boxes();
	private refreshes = 0;
	private interruptions = 0;
	/** Tries since the last one that received bytes, including that one. */
	private emptyTries = 0;
	/** The offset at which the transfer last broke off although the boxes were complete. */
	private completeAt?: number;

	constructor(
		private readonly gateway: Gateway,
		private readonly request: DownloadRequest,
	) {
		this.source = request.source;
		this.runtime = gateway.runtime;
		this.requestInfo = { purpose: request.purpose, cost: 'read' };
	}

	/** Passes the bytes on, from the first one, as soon as their kind is known. */
	async passTo<T>(store: Store<T>): Promise<T> {
		const bytes = this.bytes();
		const first = await bytes.next();
		if (first.done || this.type === undefined) throw this.incompleteError('no data arrived');
		try {
			return await store(prepend(first.value, bytes), this.type);
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
		/** Not passed on yet: the bytes must be known to be a video first. */
		const buffered: Uint8Array[] = [];
		let failure: unknown;
		try {
			for await (const bytes of readWithIdleTimeout(response, {
				...this.runtime,
				idleTimeout,
			})) {
				this.boxes.push(bytes);
				buffered.push(bytes);
				if (this.type === undefined) {
					const head = Buffer.concat(buffered).subarray(0, headLength);
					this.type = videoTypeOf(head, response.headers['content-type']);
					if (this.type === undefined && head.length === headLength) break;
				}
				for (const chunk of this.type ? buffered.splice(0) : []) {
					this.received.length += chunk.length;
					yield chunk;
				}
			}
		} catch (error) {
			failure = error;
		}
		if (this.type === undefined) return this.notAVideo(buffered, response, failure);
		if (failure === undefined) {
			if (!this.boxes.isTruncated && !isShortRange(response)) return undefined;
			// The announced length was not that of the file.
			this.received.discardFileLength();
			return { reason: 'the file ends too early' };
		}
		// A storage host may announce more bytes than there are, and then breaks off at the same offset again.
		if (this.boxes.isComplete && this.completeAt === this.received.length) return undefined;
		if (this.boxes.isComplete) this.completeAt = this.received.length;
		return { reason: reasonOf(failure) };
	}

	private notAVideo(
		buffered: Uint8Array[],
		{ status, headers }: HttpResponse,
		failure: unknown,
	): Interruption {
		this.boxes = new Mp4Boxes();
		if (failure !== undefined) return { reason: reasonOf(failure) };
		if (buffered.length === 0) return { reason: 'no data arrived' };
		const head = Buffer.concat(buffered).subarray(0, 2000);
		const text = this.gateway.redaction.truncated(new TextDecoder().decode(head));
		const { 'content-type': type = 'of no declared type' } = headers;
		const content = isTextFile(head) ? excerpt(text, 120) : `a file of another kind (${type})`;
		return { reason: `it is no video: ${content}`, page: { status, headers, text } };
	}

	/** Prepares the next try. @throws GatewayError when there is none */
	private async recover({ reason, page }: Interruption, hasProgressed: boolean): Promise<void> {
		this.interruptions++;
		this.emptyTries = hasProgressed ? 1 : this.emptyTries + 1;
		const wait = this.waitAfter(interrupted, this.emptyTries);
		if (wait === undefined || this.interruptions > maxInterruptions)
			throw this.incompleteError(reason, page);
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
			throw new RestartTransfer('the storage cannot resume a transfer');
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
