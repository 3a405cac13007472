import { asGatewayError, GatewayError, stopped } from '../errors/gatewayError';
import { refused, type RequestInfo } from '../errors/requestErrors';
import type { FailedRequest } from '../errors/verdict';
import { maxLinkRefreshes } from '../protocol/bounds';
import { maySendKeyTo } from './connection';
import {
	linkRefusedStatuses,
	readBeginning,
	requestFile,
	type FileResponse,
	type FileSource,
} from './fileRequest';
import type { Gateway } from './gateway';
import type { ReceivedPart } from './receivedPart';
import { parseRetryAfter, waitBeforeRetry } from './retryPolicy';
import type { FileEnd, TransferRequest } from './transferRequest';

/** The transfer cannot resume after the bytes received so far, and starts again from the first byte. */
export class RestartTransfer extends Error {}

/** Milliseconds to wait before a file is requested again; undefined to give up. */
export function waitForFile(
	failure: FailedRequest,
	tries: number,
	{ runtime }: Gateway,
): number | undefined {
	const request = { cost: 'read', hasBackup: false } as const;
	return waitBeforeRetry(failure, request, { tries, random: runtime.random() });
}

/** The part of a file that has arrived. */
interface Arrived {
	received: ReceivedPart;
	end?: FileEnd;
	/** Why it is not enough. */
	reason: string;
}

/** Requests a file, again and again, and by a new link where the old one has expired. */
export class FileRequests {
	private source: FileSource;
	private refreshes = 0;
	private readonly requestInfo: RequestInfo;

	constructor(private readonly request: TransferRequest<FileEnd>) {
		this.source = request.source;
		this.requestInfo = { purpose: request.purpose, cost: 'read', isFile: true };
	}

	/**
	 * Requests the missing bytes until a response has them; undefined when none are missing.
	 * @throws GatewayError; RestartTransfer when the storage host sends something else instead
	 */
	async open(gateway: Gateway, arrived: Arrived): Promise<FileResponse | undefined> {
		const { clock, signal } = gateway.runtime;
		for (let tries = 1; ;) {
			if (signal?.aborted) throw stopped();
			const { length: offset, etag } = arrived.received;
			const part = { offset, etag };
			const response = await requestFile(gateway, this.requestInfo, this.source, part).catch(
				asGatewayError,
			);
			const refusal =
				response instanceof GatewayError ? response : await this.check(response, gateway, arrived);
			if (refusal === undefined) return response as FileResponse;
			if (refusal === 'complete') return undefined;
			if (refusal.failure.status === 401 && this.mayAddKey(gateway)) {
				this.source = { ...this.source, authenticated: true };
				continue;
			}
			const isLinkRefused = linkRefusedStatuses.has(refusal.failure.status);
			// Some hosts refuse a request for a part of a file, and not the link.
			const isPartRefused = isLinkRefused ? !this.request.refresh : isMethodRefused(refusal);
			if (offset > 0 && isPartRefused) throw new RestartTransfer(notResumable(arrived.reason));
			if (isLinkRefused) {
				await this.renewLink(refusal, gateway);
				continue;
			}
			const wait = waitForFile(refusal.failure, tries++, gateway);
			if (wait === undefined) throw this.request.charged(refusal);
			await clock.sleep(wait, signal);
		}
	}

	/**
	 * Requests a new link. Where there is none, as for an image, the same link gets some seconds: a content network may not
	 * have a new file yet.
	 * @throws GatewayError when there is no new link, or there were too many
	 */
	async renewLink(refusal: GatewayError, gateway: Gateway): Promise<void> {
		const { refresh, charged } = this.request;
		const mayCome = refresh !== undefined || [403, 404].includes(refusal.failure.status);
		if (!mayCome || this.refreshes++ === maxLinkRefreshes) throw charged(refusal);
		const wait = waitForFile(notYetThere, this.refreshes, gateway) ?? 0;
		if (refresh) this.source = await refresh();
		else await gateway.runtime.clock.sleep(wait, gateway.runtime.signal);
	}

	/** Whether the file of a video job is on the gateway itself, which may require the key. */
	private mayAddKey({ connection }: Gateway): boolean {
		const { url, authenticated, mayNeedKey = false } = this.source;
		return !authenticated && mayNeedKey && maySendKeyTo(url, connection);
	}

	/** Undefined when the response continues where the last one ended. */
	private async check(
		response: FileResponse,
		gateway: Gateway,
		{ received, end, reason }: Arrived,
	): Promise<GatewayError | 'complete' | undefined> {
		const content = received.classifyResponse(response, this.source.url);
		if (content === 'next') return undefined;
		if (content !== 'refused') {
			response.close();
			if (content === 'end' && (this.request.takesCut || !end?.isCut)) return 'complete';
			throw new RestartTransfer(notResumable(reason));
		}
		const { status, headers, isHidden } = response;
		const { clock, queue } = gateway.runtime;
		const shown = isHidden
			? { headers: {}, text: '' }
			: { headers, text: await readBeginning(response, gateway) };
		response.close();
		const retryAfter = parseRetryAfter(headers, clock.now());
		const requestInfo = { ...this.requestInfo, hidesResponse: isHidden };
		const refusal = refused(requestInfo, { status, ...shown }, retryAfter);
		if (this.source.authenticated) queue?.applyRateLimitPause(refusal, headers);
		return refusal;
	}
}

const notYetThere: FailedRequest = { reach: 'lost', status: 0 };

const isMethodRefused = ({ failure: { status } }: GatewayError) => status === 405 || status === 501;

const notResumable = (reason: string) => `${reason}, and the storage cannot resume a transfer`;
