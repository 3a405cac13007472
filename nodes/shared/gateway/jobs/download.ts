import { verdictOn } from '../errors/verdict';
import type { FileSource } from '../client/fileRequest';
import { readBeginning, requestFile } from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { type HttpResponse, type Runtime } from '../client/http';
import { parseRetryAfter, waitBeforeRetry } from '../client/retryPolicy';
import { readWithIdleTimeout } from '../client/timeouts';
import { GatewayError, stopped, type Failure } from '../errors/gatewayError';
import { noAnswer, refused, type RequestInfo } from '../errors/requestErrors';
import { withoutUndefined, excerpt } from '../json';
import { Mp4Boxes } from './mp4';

export interface DownloadRequest {
	source: FileSource;
	/** Asks the service for the file's address anew, when a link has expired. */
	refresh: () => Promise<FileSource>;
	/** Continues "Could not …" in errors. */
	purpose: string;
}

/** Longest silence within a body, in milliseconds. */
const idleTimeout = 60_000;
const maxRefreshes = 3;

/** A storage that cannot continue a transfer gets this many chances to deliver it in one piece. */
const maxRestarts = 5;

/** A transfer may break off this often, as long as each try brings something. */
const maxBreaks = 100;

/** How storages answer to a link that has expired, or leads nowhere. */
export const linkRefused = new Set([400, 401, 403, 404, 410]);

/**
 * Fetches a finished video ("Endpoints" 3): byte for byte the link that was given, without the key, in
 * constant memory whatever its size. A broken transfer is continued where it broke off. The file is
 * complete when the connection ended in order and the boxes of the mp4 end with the last byte.
 * @param store takes the bytes; called again, from the first byte, when the storage cannot continue
 * @throws GatewayError
 */
export async function downloadVideo<T>(
	gateway: Gateway,
	request: DownloadRequest,
	store: (bytes: AsyncGenerator<Uint8Array, void, undefined>) => Promise<T>,
): Promise<T> {
	// What is under way ends with the store, which may fail while the storage is silent.
	const over = new AbortController();
	const stop = gateway.runtime.signal;
	const signal = AbortSignal.any([over.signal, ...(stop ? [stop] : [])]);
	const transfer = new Transfer(gateway.withSignal(signal), request);
	for (let restarts = 0; ; restarts++) {
		const outcome = await store(transfer.bytes()).then(
			(value) => ({ value }),
			// The store may wrap what it was thrown; the transfer knows the true cause.
			(error: unknown) => ({ error: transfer.failure ?? error }),
		);
		if (!('error' in outcome && outcome.error instanceof RestartTransfer)) over.abort();
		if (stop?.aborted) throw transfer.collectLaterError(stopped());
		if ('value' in outcome) return outcome.value;
		if (!(outcome.error instanceof RestartTransfer)) throw outcome.error;
		if (restarts === maxRestarts) throw transfer.incompleteError(outcome.error.message);
	}
}

/** What has come so far is not the beginning of what the storage would send now. */
class RestartTransfer extends Error {}

/** Why more bytes are needed. */
interface Interruption {
	why: string;
	/** What came was no mp4, and nothing was passed on: another link may be better. */
	page?: { status: number; headers: Record<string, string>; text: string };
}

type FileVersion = Partial<Record<'etag' | 'date' | 'length', string>>;

class Transfer {
	/** Why the bytes ended early. */
	failure?: unknown;
	private source: FileSource;
	private readonly what: RequestInfo;
	private readonly runtime: Runtime;
	/** Bytes passed on so far. */
	private received = 0;
	/** What tells the file they belong to from another one: its tag, its date and its length. */
	private version: FileVersion = {};
	/** The link they came from. */
	private link?: string;
	private boxes = new Mp4Boxes();
	private refreshes = 0;
	private breaks = 0;
	/** Tries in a row that brought nothing. */
	private emptyTries = 0;
	/** Where the transfer last broke off although the boxes were whole. */
	private wholeAt?: number;

	constructor(
		private readonly gateway: Gateway,
		private readonly request: DownloadRequest,
	) {
		this.source = request.source;
		this.runtime = gateway.runtime;
		this.what = { purpose: request.purpose, cost: 'read' };
	}

	async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
		this.received = 0;
		this.version = {};
		this.boxes = new Mp4Boxes();
		this.failure = undefined;
		try {
			for (;;) {
				const before = this.received;
				const response = await this.open();
				const ending = response && (yield* this.pass(response));
				if (ending === undefined) return;
				await this.recover(ending, this.received > before);
			}
		} catch (error) {
			this.failure = error;
		}
		throw this.failure;
	}

	/** Passes one answer's bytes on; undefined when the file is complete. */
	private async *pass(
		response: HttpResponse,
	): AsyncGenerator<Uint8Array, Interruption | undefined, undefined> {
		const held: Uint8Array[] = [];
		let broken: unknown;
		try {
			for await (const bytes of readWithIdleTimeout(response, {
				...this.runtime,
				idleTimeout,
			})) {
				this.boxes.push(bytes);
				held.push(bytes);
				// Nothing is passed on before it is known to be an mp4.
				if (this.boxes.isMp4 === false) break;
				for (const piece of this.boxes.isMp4 ? held.splice(0) : []) {
					this.received += piece.length;
					yield piece;
				}
			}
		} catch (error) {
			broken = error;
		}
		if (!this.boxes.isMp4) return this.noVideo(held, response, broken);
		if (broken === undefined) {
			if (!this.boxes.isCut) return undefined;
			// What was announced was not the length of the file.
			delete this.version.length;
			return { why: 'the file ends too early' };
		}
		// A storage may announce more bytes than there are: it then breaks off at the same place again.
		if (this.boxes.isWhole && this.wholeAt === this.received) return undefined;
		if (this.boxes.isWhole) this.wholeAt = this.received;
		return { why: broken instanceof Error ? broken.message : String(broken) };
	}

	private noVideo(
		held: Uint8Array[],
		{ status, headers }: HttpResponse,
		broken: unknown,
	): Interruption {
		const isPage = this.boxes.isMp4 === false || (broken === undefined && held.length > 0);
		const text = this.gateway.redaction.text(new TextDecoder().decode(held[0]?.subarray(0, 2000)));
		this.boxes = new Mp4Boxes();
		return {
			why: isPage ? `it is no mp4 file: ${excerpt(text, 120)}` : 'nothing came',
			...(isPage && { page: { status, headers, text } }),
		};
	}

	/** Prepares the next try. @throws GatewayError when there is none */
	private async recover({ why, page }: Interruption, gotBytes: boolean): Promise<void> {
		this.breaks++;
		this.emptyTries = gotBytes ? 1 : this.emptyTries + 1;
		const wait = this.waitAfter({ sendsAgain: true, status: 0 }, this.emptyTries);
		if (wait === undefined || this.breaks > maxBreaks) throw this.incompleteError(why, page);
		await this.runtime.clock.sleep(wait, this.runtime.signal);
		if (page) await this.renewLink(this.incompleteError(why, page));
	}

	private waitAfter(
		failure: Pick<Failure, 'sendsAgain' | 'status' | 'retryAfter'>,
		tries: number,
	): number | undefined {
		return waitBeforeRetry(failure, { tries, hasBackup: false, random: this.runtime.random() });
	}

	/** Asks for what is missing until somebody sends it; undefined when nothing is missing. */
	private async open(): Promise<HttpResponse | undefined> {
		const { clock, signal } = this.runtime;
		for (let tries = 1; ;) {
			if (signal?.aborted) throw stopped();
			const rest = { offset: this.received, ...this.version };
			const response = await requestFile(this.runtime, this.source, rest).catch((error: unknown) =>
				noAnswer(this.what, error),
			);
			const refusal = response instanceof GatewayError ? response : await this.refusalOf(response);
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
			// A storage is not the service: whatever codes it has, only its status counts.
			const { sendsAgain } = verdictOn({ reach, status }, 'read');
			const wait = this.waitAfter({ sendsAgain, status, retryAfter }, tries++);
			if (wait === undefined) throw this.collectLaterError(refusal);
			await clock.sleep(wait, signal);
		}
	}

	/** The gateway may serve files that it has redirected to, or linked to, as it does everything else: with the key. */
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

	/** Undefined when the answer carries on where the last one ended. */
	private async refusalOf(response: HttpResponse): Promise<GatewayError | 'complete' | undefined> {
		const { status, headers } = response;
		const range = /^bytes (?:(\d+)-\d+|\*)\/(?:(\d+)|\*)$/.exec(headers['content-range'] ?? '');
		const { etag, 'last-modified': date } = headers;
		const length = status === 200 ? headers['content-length'] : range?.[2];
		const version: FileVersion = withoutUndefined({ etag, date, length });

		if (this.received === 0 && (status === 200 || status === 206)) {
			this.version = version;
			this.link = this.source.url;
			return undefined;
		}
		if (status === 206 && this.isSameFile(version) && Number(range?.[1]) === this.received) {
			this.version = { ...version, ...this.version };
			return undefined;
		}
		if (status === 416 && Number(range?.[2]) === this.received && !this.boxes.isCut) {
			response.close();
			return 'complete';
		}
		if (status === 200 || status === 206 || status === 416) {
			response.close();
			throw new RestartTransfer('the storage does not continue a transfer');
		}
		const text = this.gateway.redaction.text(await readBeginning(response, this.runtime));
		const retryAfter = parseRetryAfter(headers, this.runtime.clock.now());
		return refused(this.what, { status, headers, text }, retryAfter);
	}

	/** Nothing in the bytes tells parts of two files apart. A storage may leave out any of what does. */
	private isSameFile(version: FileVersion): boolean {
		const told = Object.keys(version) as Array<keyof FileVersion>;
		const names = told.filter((name) => name in this.version);
		if (names.length === 0) return this.source.url === this.link;
		return names.every((name) => version[name] === this.version[name]);
	}

	/** However the download fails, the video is not lost. */
	collectLaterError(error: GatewayError): GatewayError {
		const { billed, remedies, retry_can_help } = this.incompleteError('').failure;
		return error.with({ billed, remedies, retry_can_help });
	}

	incompleteError(why: string, page?: Interruption['page']): GatewayError {
		return new GatewayError({
			message: `Could not ${this.what.purpose}: ${excerpt(why)}`,
			remedies: [{ about: 'videoIsFinished' }],
			reach: page ? 'unreadable' : 'lost',
			status: page?.status ?? 0,
			billed: 'yes',
			retry_can_help: true,
			...(page && { raw_body: page.text }),
		});
	}
}
