import { asGatewayError, GatewayError } from '../errors/gatewayError';
import { refused, type RequestInfo } from '../errors/requestErrors';
import type { FailedRequest } from '../errors/verdict';
import { maxLinkRefreshes } from '../protocol/bounds';
import { maySendKeyTo } from './connection';
import { readBeginning, requestFile, type FileResponse, type FileSource } from './fileRequest';
import type { Gateway } from './gateway';
import type { ReceivedPart } from './receivedPart';
import { parseRetryAfter } from './retryPolicy';
import type { FileEnd, TransferRequest } from './transferRequest';

/** The transfer cannot resume after the bytes received so far, and starts again from the first byte. */
export class RestartTransfer extends Error {
	constructor(reason: string) {
		super(`${reason}, and the storage cannot resume a transfer`);
	}
}

/** Why a try did not bring the whole file. */
export interface Setback {
	/** Why the bytes ended early; undefined when none were sent. */
	reason?: string;
	/** What is thrown when no other try can help. */
	error: GatewayError;
	/** How long to wait before the next try depends on it. Undefined when only a new link can help. */
	failed?: FailedRequest;
	/** Whether a new link may help, too. */
	isLinkOver?: true;
}

/** Statuses with which storage hosts refuse a link that has expired or never existed. */
export const linkRefusedStatuses = new Set([400, 401, 403, 404, 410]);

/** The link by which a file is requested, and a new one when it has expired. */
export class FileLink {
	private source: FileSource;
	private refreshes = 0;
	private readonly requestInfo: RequestInfo;

	constructor(private readonly request: TransferRequest<FileEnd>) {
		this.source = request.source;
		this.requestInfo = { purpose: request.purpose, cost: 'read', isFile: true };
	}

	/**
	 * Requests the missing bytes.
	 * @param reason why the last try was not enough
	 * @returns `end` when the host says that none are missing
	 * @throws RestartTransfer when it sends something else instead
	 */
	async open(
		gateway: Gateway,
		received: ReceivedPart,
		reason: string,
	): Promise<FileResponse | Setback | 'end'> {
		const { length: offset, etag } = received;
		const { source, request } = this;
		const response = await requestFile(gateway, this.requestInfo, source, { offset, etag }).catch(
			asGatewayError,
		);
		if (response instanceof GatewayError) return this.setback(response);
		const content = received.classifyResponse(response, source.url);
		if (content === 'next') return response;
		if (content !== 'refused') {
			response.close();
			if (content === 'end') return 'end';
			throw new RestartTransfer(reason);
		}
		const refusal = await this.refusal(response, gateway);
		const { status } = refusal.failure;
		const { url, authenticated, mayNeedKey = false } = source;
		// The file of a video job may be on the gateway itself, which may require the key.
		if (status === 401 && !authenticated && mayNeedKey && maySendKeyTo(url, gateway.connection)) {
			this.source = { ...source, authenticated: true };
			return await this.open(gateway, received, reason);
		}
		const isLinkRefused = linkRefusedStatuses.has(status);
		// Some hosts refuse a request for a part of a file, and not the link.
		const isPartRefused = isLinkRefused ? !request.refresh : status === 405 || status === 501;
		if (offset > 0 && isPartRefused) throw new RestartTransfer(reason);
		return this.setback(refusal);
	}

	/**
	 * Requests a new link. Where there is none, as for an image, the same link gets some seconds: a content network may not
	 * have a new file yet.
	 * @throws GatewayError when there is no new link, or there were too many
	 */
	async renew(error: GatewayError, { runtime }: Gateway): Promise<void> {
		const { refresh } = this.request;
		const mayCome = refresh !== undefined || [403, 404].includes(error.failure.status);
		if (!mayCome || this.refreshes++ === maxLinkRefreshes) throw error;
		if (refresh) this.source = await refresh();
		else await runtime.clock.sleep(1000 * 2 ** (this.refreshes - 1), runtime.signal);
	}

	private setback(error: GatewayError): Setback {
		const { failure } = error;
		const setback = { error: this.request.charged(error) };
		return linkRefusedStatuses.has(failure.status) ? setback : { ...setback, failed: failure };
	}

	private async refusal(response: FileResponse, gateway: Gateway): Promise<GatewayError> {
		const { status, headers, isHidden } = response;
		const { clock, queue } = gateway.runtime;
		const shown = isHidden
			? { headers: {}, text: '' }
			: { headers, text: await readBeginning(response, gateway) };
		response.close();
		const requestInfo = { ...this.requestInfo, hidesResponse: isHidden };
		const refusal = refused(
			requestInfo,
			{ status, ...shown },
			parseRetryAfter(headers, clock.now()),
		);
		if (this.source.authenticated) queue?.applyRateLimitPause(refusal, headers);
		return refusal;
	}
}
