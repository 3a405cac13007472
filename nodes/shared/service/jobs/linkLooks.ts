import { readBody, requestFile } from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { withTimeout } from '../client/timeouts';
import { announcedLength } from '../client/transferLimit';
import { fileTypeOf, headLength, type FileType } from '../files/fileType';
import { imageSizeOf, type ImageSize } from '../files/imageSize';

/** What the first bytes behind a link show. */
export interface Look {
	/** HTTP status of its host. */
	status: number;
	/** Undefined when the bytes are of no known type, or did not come. */
	type?: FileType;
	/** Length of the whole file, if its host says it. */
	bytes?: number;
	size?: ImageSize;
}

/** Milliseconds for one link. The service has more time, so what is slow is not refused. */
const patience = 5_000;

/**
 * Looks at files that the service will fetch: at the first bytes of each, without the key, and only where a link of
 * strangers may lead. Each link is fetched once. A host that did not answer in time is not asked again.
 */
export class LinkLooks {
	private readonly looks = new Map<string, Promise<Look | undefined>>();
	private readonly silentHosts = new Set<string>();

	constructor(private readonly gateway: Gateway) {}

	/** @returns undefined where the file cannot be reached from here */
	async at(url: string): Promise<Look | undefined> {
		let look = this.looks.get(url);
		if (look === undefined) this.looks.set(url, (look = this.lookAt(url)));
		return await look;
	}

	private async lookAt(url: string): Promise<Look | undefined> {
		if (!/^https?:/i.test(url) || !URL.canParse(url)) return undefined;
		const { host } = new URL(url);
		if (this.silentHosts.has(host)) return undefined;
		const { clock, signal } = this.gateway.runtime;
		const limit = { milliseconds: patience, clock, signal };
		const look = async (inTime: AbortSignal) =>
			await firstBytes(this.gateway.withSignal(inTime), url);
		return await withTimeout(limit, look).catch(() => {
			this.silentHosts.add(host);
			return undefined;
		});
	}
}

/** @throws GatewayError when no response arrived */
async function firstBytes(gateway: Gateway, url: string): Promise<Look> {
	const purpose = 'look at a reference file';
	const source = { url, authenticated: false };
	const range = { offset: 0, length: headLength };
	const response = await requestFile(
		gateway,
		{ purpose, cost: 'read', isFile: true },
		source,
		range,
	);
	const { status } = response;
	if (status !== 200 && status !== 206) {
		response.close();
		return { status };
	}
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of readBody(response, { ...gateway.runtime, idleTimeout: patience })) {
		chunks.push(chunk);
		length += chunk.length;
		if (length >= headLength) break;
	}
	const head = Buffer.concat(chunks);
	const bytes = announcedLength(response)?.bytes;
	return { status, type: fileTypeOf(head), bytes, size: imageSizeOf(head) };
}
