import { asGatewayError, GatewayError } from '../errors/gatewayError';
import { refused, type RequestInfo } from '../errors/requestErrors';
import { headOf } from '../files/fileType';
import { maxLinkRefreshes, transferMinute } from '../protocol/bounds';
import { maySendKeyTo } from './connection';
import { readBody, requestFile, type FileResponse, type FileSource } from './fileRequest';
import type { Gateway } from './gateway';
import type { ReceivedPart } from './receivedPart';
import { parseRetryAfter } from './retryPolicy';
import { withTimeout } from './timeouts';
import type { TransferBounds } from './transferLimit';

export interface TransferRequest {
	source: FileSource;
	/** Requests a new link when the old one has expired. Undefined where the service gives no other. */
	refresh?: () => Promise<FileSource>;
	/** Continues "Could not …" in errors. */
	purpose: string;
	/** The same failure, of a file that is charged. */
	charged: (error: GatewayError) => GatewayError;
	wanted: 'image' | 'video';
	bounds: TransferBounds;
	/** Whether a file that its host ends twice in the same place is delivered, although it is cut. */
	takesCut?: boolean;
}

/** Why a try did not bring the rest of the file, and the steps before the next try. */
export interface Setback {
	error: GatewayError;
	pause: boolean;
	newLink: boolean;
}

export class FileLink {
	private source: FileSource;
	private renewals = 0;
	private readonly requestInfo: RequestInfo;

	constructor(private readonly request: TransferRequest) {
		this.source = request.source;
		this.requestInfo = { purpose: request.purpose, cost: 'read', isFile: true };
	}

	/**
	 * Requests the missing bytes.
	 * @returns `end` when the host says that none are missing, `other` when it sends other bytes
	 */
	async open(
		gateway: Gateway,
		received: ReceivedPart,
	): Promise<FileResponse | Setback | 'end' | 'other'> {
		const { length: offset, etag } = received;
		const { source } = this;
		const response = await requestFile(gateway, this.requestInfo, source, { offset, etag }).catch(
			asGatewayError,
		);
		if (response instanceof GatewayError) return this.setback(response);
		const content = received.contentOf(response, source.url);
		if (content === 'next') return response;
		if (content !== 'refused') {
			response.close();
			return content;
		}
		const refusal = await this.refusal(response, gateway);
		const { status } = refusal.failure;
		const { url, authenticated, mayNeedKey = false } = source;
		// The file of a video job may be on the gateway itself, which may require the key.
		if (status === 401 && !authenticated && mayNeedKey && maySendKeyTo(url, gateway.connection)) {
			this.source = { ...source, authenticated: true };
			return await this.open(gateway, received);
		}
		return this.setback(refusal);
	}

	/**
	 * Requests a new link, or waits some seconds: for an image, which has no other link, and after a new link that was
	 * refused as well, since a content network may not have a new file yet.
	 * @throws GatewayError when neither can help, or there were too many
	 */
	async renew(error: GatewayError, { runtime }: Gateway): Promise<void> {
		const { refresh } = this.request;
		const mayCome = refresh !== undefined || [403, 404].includes(error.failure.status);
		if (!mayCome || this.renewals++ === maxLinkRefreshes) throw error;
		const isExpired = refresh !== undefined && this.renewals === 1;
		if (!isExpired) await runtime.clock.sleep(1000 * 2 ** (this.renewals - 1), runtime.signal);
		if (refresh) this.source = await refresh();
	}

	private setback(error: GatewayError): Setback {
		const { status } = error.failure;
		// Redirects in a circle, perhaps to a login page, and any 4xx that does not ask for time.
		const newLink = status >= 300 && status < 500 && status !== 408 && status !== 429;
		return { error: this.request.charged(error), pause: !newLink, newLink };
	}

	private async refusal(response: FileResponse, gateway: Gateway): Promise<GatewayError> {
		const { status, headers, isHidden } = response;
		const { clock, signal, queue } = gateway.runtime;
		const limit = { milliseconds: transferMinute, clock, signal };
		const body = readBody(response, { clock, signal, idleTimeout: transferMinute });
		const text = isHidden
			? ''
			: await withTimeout(limit, async () => await headOf(body)).then(
					(head) => gateway.redaction.truncated(head.toString()),
					() => '',
				);
		response.close();
		const shown = isHidden ? {} : headers;
		const retryAfter = parseRetryAfter(shown, clock.now());
		const refusal = refused(
			{ ...this.requestInfo, hidesResponse: isHidden },
			{ status, headers: shown, text, retryAfter },
		);
		if (this.source.authenticated) queue?.applyRateLimitPause(refusal, headers);
		return refusal;
	}
}
