import type { FileSource } from '../client/fileRequest';
import { linkRefused, readBeginning, requestFile } from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { type HttpResponse, type Runtime } from '../client/http';
import { parseRetryAfter, waitBeforeRetry } from '../client/retryPolicy';
import { readWithIdleTimeout } from '../client/timeouts';
import { GatewayError, stopped, type Failure } from '../errors/gatewayError';
import { noAnswer, refused, type RequestInfo } from '../errors/requestErrors';
import { verdictOn } from '../errors/verdict';
import { excerpt, withoutUndefined } from '../json';
import { Mp4Boxes } from './mp4';

export interface DownloadRequest {
	source: FileSource;
	/** Requests a new link to the file from the service, when the old one has expired. */
	refresh: () => Promise<FileSource>;
	/** Continues "Could not …" in errors. */
	purpose: string;
}

/** Milliseconds without a byte of the body. */
const idleTimeout = 60_000;
const maxRefreshes = 3;

/** How often a transfer may start again from the first byte, when the storage host does not support ranges. */
const maxRestarts = 5;

/** How often a transfer may be interrupted in all, even if each try receives something. */
const maxInterruptions = 100;

/**
 * Fetches a finished video ("Endpoints" 3): by the given link byte for byte, without the key, in constant memory
 * whatever its size. An interrupted transfer is continued where it broke off. The file is complete when the
 * connection ended normally and the boxes of the mp4 end with the last byte.
 * @param store consumes the bytes; called again, from the first byte, when the storage host cannot continue
 * @throws GatewayError
 */
export async function downloadVideo<T>(
	gateway: Gateway,
	request: DownloadRequest,
	store: (bytes: AsyncGenerator<Uint8Array, void, undefined>) => Promise<T>,
): Promise<T> {
	// The transfer has to end with the store, which may fail while the storage host sends nothing.
	const ended = new AbortController();
	const stop = gateway.runtime.signal;
	const signal = AbortSignal.any([ended.signal, ...(stop ? [stop] : [])]);
	const transfer = new Transfer(gateway.withSignal(signal), request);
	for (let restarts = 0; ; restarts++) {
		const outcome = await store(transfer.bytes()).then(
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

/** The bytes received so far cannot be continued, so the transfer starts again from the first byte. */
class RestartTransfer extends Error {}

/** Why more bytes are needed. */
interface Interruption {
	reason: string;
	/** Set when the body was no mp4, none of which was passed on: a new link may help. */
	page?: { status: number; headers: Record<string, string>; text: string };
}

type FileVersion = Partial<Record<'etag' | 'date' | 'length', string>>;

class Transfer {
	/** Why the bytes ended early. */
	failure?: unknown;
	private source: FileSource;
	private readonly requestInfo: RequestInfo;
	private readonly runtime: Runtime;
	/** Bytes passed on so far. */
	private offset = 0;
	/** The ETag, date and length of the file these bytes belong to, which identify its version. */
	private version: FileVersion = {};
	/** The link these bytes came from. */
	private sourceUrl?: string;
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

	async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
		this.offset = 0;
		this.version = {};
		this.boxes = new Mp4Boxes();
		this.failure = undefined;
		try {
			for (;;) {
				const before = this.offset;
				const response = await this.open();
				const interruption = response && (yield* this.forward(response));
				if (interruption === undefined) return;
				await this.recover(interruption, this.offset > before);
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
		const chunks: Uint8Array[] = [];
		let failure: unknown;
		try {
			for await (const bytes of readWithIdleTimeout(response, {
				...this.runtime,
				idleTimeout,
			})) {
				this.boxes.push(bytes);
				chunks.push(bytes);
				// Nothing is passed on before it is known to be an mp4.
				if (this.boxes.isMp4 === false) break;
				for (const chunk of this.boxes.isMp4 ? chunks.splice(0) : []) {
					this.offset += chunk.length;
					yield chunk;
				}
			}
		} catch (error) {
			failure = error;
		}
		if (!this.boxes.isMp4) return this.notAVideo(chunks, response, failure);
		if (failure === undefined) {
			if (!this.boxes.isTruncated) return undefined;
			// The announced length was not that of the file.
			delete this.version.length;
			return { reason: 'the file ends too early' };
		}
		// A storage host may announce more bytes than there are, and then breaks off at the same offset again.
		if (this.boxes.isComplete && this.completeAt === this.offset) return undefined;
		if (this.boxes.isComplete) this.completeAt = this.offset;
		return { reason: failure instanceof Error ? failure.message : String(failure) };
	}

	private notAVideo(
		chunks: Uint8Array[],
		{ status, headers }: HttpResponse,
		error: unknown,
	): Interruption {
		const isPage = this.boxes.isMp4 === false || (error === undefined && chunks.length > 0);
		const text = this.gateway.redaction.text(
			new TextDecoder().decode(chunks[0]?.subarray(0, 2000)),
		);
		this.boxes = new Mp4Boxes();
		return {
			reason: isPage ? `it is no mp4 file: ${excerpt(text, 120)}` : 'nothing came',
			...(isPage && { page: { status, headers, text } }),
		};
	}

	/** Prepares the next try. @throws GatewayError when there is none */
	private async recover({ reason, page }: Interruption, hasProgressed: boolean): Promise<void> {
		this.interruptions++;
		this.emptyTries = hasProgressed ? 1 : this.emptyTries + 1;
		const wait = this.waitAfter({ sendsAgain: true, status: 0 }, this.emptyTries);
		if (wait === undefined || this.interruptions > maxInterruptions)
			throw this.incompleteError(reason, page);
		await this.runtime.clock.sleep(wait, this.runtime.signal);
		if (page) await this.renewLink(this.incompleteError(reason, page));
	}

	private waitAfter(
		failure: Pick<Failure, 'sendsAgain' | 'status' | 'retryAfter'>,
		tries: number,
	): number | undefined {
		return waitBeforeRetry(failure, { tries, hasBackup: false, random: this.runtime.random() });
	}

	/** Requests the missing bytes until they are sent; undefined when none are missing. */
	private async open(): Promise<HttpResponse | undefined> {
		const { clock, signal } = this.runtime;
		for (let tries = 1; ;) {
			if (signal?.aborted) throw stopped();
			const range = { offset: this.offset, ...this.version };
			const response = await requestFile(this.runtime, this.source, range).catch((error: unknown) =>
				noAnswer(this.requestInfo, error),
			);
			const refusal =
				response instanceof GatewayError ? response : await this.checkResponse(response);
			if (refusal === undefined) return response as HttpResponse;
			if (refusal === 'complete') return undefined;
			if (refusal.failure.status === 401 && this.mayAddKey) {
				this.source = { ...this.source, authenticated: true };
				continue;
			}
			if (linkRefused.has(refusal.failure.status)) {
				await this.renewLink(refusal);
				continue;
			}
			const { status, reach, retryAfter } = refusal.failure;
			// A storage host is not the service, so its error codes are ignored and only its status counts.
			const { sendsAgain } = verdictOn({ reach, status }, 'read');
			const wait = this.waitAfter({ sendsAgain, status, retryAfter }, tries++);
			if (wait === undefined) throw this.collectLaterError(refusal);
			await clock.sleep(wait, signal);
		}
	}

	/** Whether the link leads to the gateway itself, which may require the key for its files too. */
	private get mayAddKey(): boolean {
		const { baseUrl, backupUrl = baseUrl } = this.gateway.connection;
		const { url, authenticated } = this.source;
		const { origin } = new URL(url);
		return !authenticated && [baseUrl, backupUrl].some((base) => new URL(base).origin === origin);
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
		const { status, headers } = response;
		const range = /^bytes (?:(\d+)-\d+|\*)\/(?:(\d+)|\*)$/.exec(headers['content-range'] ?? '');
		const { etag, 'last-modified': date } = headers;
		const length = status === 200 ? headers['content-length'] : range?.[2];
		const version: FileVersion = withoutUndefined({ etag, date, length });

		if (this.offset === 0 && (status === 200 || status === 206)) {
			this.version = version;
			this.sourceUrl = this.source.url;
			return undefined;
		}
		if (status === 206 && this.isSameFile(version) && Number(range?.[1]) === this.offset) {
			this.version = { ...version, ...this.version };
			return undefined;
		}
		if (status === 416 && Number(range?.[2]) === this.offset && !this.boxes.isTruncated) {
			response.close();
			return 'complete';
		}
		if (status === 200 || status === 206 || status === 416) {
			response.close();
			throw new RestartTransfer('the storage does not continue a transfer');
		}
		const text = this.gateway.redaction.text(await readBeginning(response, this.runtime));
		const retryAfter = parseRetryAfter(headers, this.runtime.clock.now());
		return refused(this.requestInfo, { status, headers, text }, retryAfter);
	}

	/** Compares what both responses tell of their file, since a storage host may omit any of it; else, the links. */
	private isSameFile(version: FileVersion): boolean {
		const given = Object.keys(version) as Array<keyof FileVersion>;
		const names = given.filter((name) => name in this.version);
		if (names.length === 0) return this.source.url === this.sourceUrl;
		return names.every((name) => version[name] === this.version[name]);
	}

	/** The error with the advice that the video is finished and can be fetched later. */
	collectLaterError(error: GatewayError): GatewayError {
		const { billed, remedies, retry_can_help } = this.incompleteError('').failure;
		return error.with({ billed, remedies, retry_can_help });
	}

	incompleteError(reason: string, page?: Interruption['page']): GatewayError {
		return new GatewayError({
			message: `Could not ${this.requestInfo.purpose}: ${excerpt(reason)}`,
			remedies: [{ about: 'videoIsFinished' }],
			reach: page ? 'unreadable' : 'lost',
			status: page?.status ?? 0,
			billed: 'yes',
			retry_can_help: true,
			...(page && { raw_body: page.text }),
		});
	}
}
