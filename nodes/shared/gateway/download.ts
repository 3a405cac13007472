import type { VideoSource } from './answers';
import { GatewayError, canceled } from './errors';
import { noAnswer, refused, type Purpose } from './failedRequests';
import { beginningOf, requestFile } from './fileRequest';
import { guardedBody, type HttpResponse, type World } from './http';
import { defined, excerpt } from './json';
import { Mp4Boxes } from './mp4';
import { limits } from './protocol';
import { waitBeforeRetry, retryAfterOf } from './retry';
import type { Gateway } from './transport';

export interface DownloadRequest {
	source: VideoSource;
	/** Asks the service for the file's address anew, when a link has expired. */
	refresh: () => Promise<VideoSource>;
	/** Continues "Could not …" in errors. */
	purpose: string;
}

/** Longest silence within a body, in milliseconds. */
const silence = 60_000;
const mostRefreshes = 3;
/** A storage that cannot continue a transfer gets this many chances to deliver it in one piece. */
const mostRestarts = 5;
/** A transfer may break off this often, as long as each try brings something. */
const mostBreaks = 100;
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
	const stop = gateway.world.signal;
	const signal = AbortSignal.any([over.signal, ...(stop ? [stop] : [])]);
	const transfer = new Transfer(gateway.withSignal(signal), request);
	for (let restarts = 0; ; restarts++) {
		const outcome = await store(transfer.bytes()).then(
			(value) => ({ value }),
			// The store may wrap what it was thrown; the transfer knows the true cause.
			(error: unknown) => ({ error: transfer.failure ?? error }),
		);
		if (!('error' in outcome && outcome.error instanceof BeginAgain)) over.abort();
		if (stop?.aborted) throw transfer.keptForLater(canceled());
		if ('value' in outcome) return outcome.value;
		if (!(outcome.error instanceof BeginAgain)) throw outcome.error;
		if (restarts === mostRestarts) throw transfer.givenUp(outcome.error.message);
	}
}

/** What has come so far is not the beginning of what the storage would send now. */
class BeginAgain extends Error {}

/** Why more bytes are needed. */
interface Ending {
	why: string;
	/** What came was no mp4, and nothing was passed on: another link may be better. */
	page?: { status: number; headers: Record<string, string>; text: string };
}

type Version = Partial<Record<'etag' | 'date' | 'length', string>>;

class Transfer {
	/** Why the bytes ended early. */
	failure?: unknown;
	private source: VideoSource;
	private readonly what: Purpose;
	private readonly world: World;
	/** Bytes passed on so far. */
	private received = 0;
	/** What tells the file they belong to from another one: its tag, its date and its length. */
	private version: Version = {};
	/** The link they came from. */
	private link?: string;
	private boxes = new Mp4Boxes();
	private refreshes = 0;
	private breaks = 0;
	/** Tries in a row that brought nothing. */
	private fruitless = 0;
	/** Where the transfer last broke off although the boxes were whole. */
	private wholeAt?: number;

	constructor(
		private readonly gateway: Gateway,
		private readonly request: DownloadRequest,
	) {
		this.source = request.source;
		this.world = gateway.world;
		this.what = { purpose: request.purpose, lostIsBilled: 'yes' };
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
	): AsyncGenerator<Uint8Array, Ending | undefined, undefined> {
		const held: Uint8Array[] = [];
		let broken: unknown;
		try {
			for await (const bytes of guardedBody(response, { ...this.world, silence })) {
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
		if (!this.boxes.isMp4) return this.notAVideo(held, response, broken);
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

	private notAVideo(
		held: Uint8Array[],
		{ status, headers }: HttpResponse,
		broken: unknown,
	): Ending {
		const isPage = this.boxes.isMp4 === false || (broken === undefined && held.length > 0);
		const text = this.gateway.redaction.text(new TextDecoder().decode(held[0]?.subarray(0, 2000)));
		this.boxes = new Mp4Boxes();
		return {
			why: isPage ? `it is no mp4 file: ${excerpt(text, 120)}` : 'nothing came',
			...(isPage && { page: { status, headers, text } }),
		};
	}

	/** Prepares the next try. @throws GatewayError when there is none */
	private async recover({ why, page }: Ending, gotBytes: boolean): Promise<void> {
		this.breaks++;
		this.fruitless = gotBytes ? 1 : this.fruitless + 1;
		const wait = this.waitAfter({ status: 0, reach: 'lost' }, this.fruitless);
		if (wait === undefined || this.breaks > mostBreaks) throw this.givenUp(why, page);
		await this.world.clock.sleep(wait, this.world.signal);
		if (page) await this.renewLink(this.givenUp(why, page));
	}

	private waitAfter(
		{ status, reach }: Pick<GatewayError['record'], 'status'> & Pick<GatewayError, 'reach'>,
		tries: number,
		retryAfter?: number,
	): number | undefined {
		const rules = { resend: 'always', resendIfLost: true, hasBackup: false } as const;
		return waitBeforeRetry(
			{ status, reach, tries, retryAfter },
			{ ...rules, random: this.world.random() },
		);
	}

	/** Asks for what is missing until somebody sends it; undefined when nothing is missing. */
	private async open(): Promise<HttpResponse | undefined> {
		const { clock, signal } = this.world;
		for (let tries = 1; ;) {
			if (signal?.aborted) throw canceled();
			const rest = { received: this.received, ...this.version };
			const response = await requestFile(this.world, this.source, rest).catch((error: unknown) =>
				noAnswer(this.what, error),
			);
			const refusal = response instanceof GatewayError ? response : await this.refusalOf(response);
			if (refusal === undefined) return response as HttpResponse;
			if (refusal === 'complete') return undefined;
			if (refusal.record.status === 401 && this.mayAddKey) {
				this.source = { ...this.source, authenticated: true };
				continue;
			}
			if (linkRefused.has(refusal.record.status)) {
				await this.renewLink(refusal);
				continue;
			}
			const wait = this.waitAfter(
				{ ...refusal.record, reach: refusal.reach },
				tries++,
				refusal.retryAfter,
			);
			if (wait === undefined) throw this.keptForLater(refusal);
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
		if (this.refreshes++ === mostRefreshes) throw this.keptForLater(refusal);
		this.source = await this.request.refresh();
	}

	/** Undefined when the answer carries on where the last one ended. */
	private async refusalOf(response: HttpResponse): Promise<GatewayError | 'complete' | undefined> {
		const { status, headers } = response;
		const range = /^bytes (?:(\d+)-\d+|\*)\/(?:(\d+)|\*)$/.exec(headers['content-range'] ?? '');
		const { etag, 'last-modified': date } = headers;
		const length = status === 200 ? headers['content-length'] : range?.[2];
		const version: Version = defined({ etag, date, length });

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
			throw new BeginAgain('the storage does not continue a transfer');
		}
		const text = this.gateway.redaction.text(await beginningOf(response, this.world));
		const retryAfter = retryAfterOf(headers, this.world.clock.now());
		return refused(this.what, { status, headers, text }, retryAfter);
	}

	/** Nothing in the bytes tells parts of two files apart. A storage may leave out any of what does. */
	private isSameFile(version: Version): boolean {
		const told = Object.keys(version) as Array<keyof Version>;
		const names = told.filter((name) => name in this.version);
		if (names.length === 0) return this.source.url === this.link;
		return names.every((name) => version[name] === this.version[name]);
	}

	/** However the download fails, the video is not lost. */
	keptForLater({ record, reach }: GatewayError): GatewayError {
		const { billed, advice, retry_can_help } = this.givenUp('').record;
		return new GatewayError({ ...record, billed, advice, retry_can_help }, reach);
	}

	givenUp(why: string, page?: Ending['page']): GatewayError {
		return new GatewayError(
			{
				message: `Could not ${this.what.purpose}: ${excerpt(why)}`,
				advice: `The video is finished and paid for, and it is not lost: fetch it again by its id within ${limits.taskIdHours} hours.`,
				status: page?.status ?? 0,
				billed: 'yes',
				retry_can_help: true,
				...(page && { raw_body: page.text }),
			},
			page ? 'unreadable' : 'lost',
		);
	}
}
