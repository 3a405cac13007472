import { readBody, requestFile } from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { announcedLength } from '../client/receivedPart';
import { withTimeout } from '../client/timeouts';
import {
	fileTypeOf,
	headLength,
	headOf,
	isKind,
	withArticle,
	type FileType,
} from '../files/fileType';
import { imageSizeOf, type ImageSize } from '../files/imageSize';

/** The finding of a look at the first bytes behind a link. */
export interface Look {
	/** HTTP status of its host. */
	status: number;
	/** Undefined when the bytes are of no known type, or did not come. */
	type?: FileType;
	/** Length of the whole file, if its host says it. */
	bytes?: number;
	size?: ImageSize;
}

/** A file that the service fetches by a link. */
export interface LinkedFile {
	url: string;
	/** The label of its field. */
	field: string;
	/** The kind of file that it must be; undefined where only the service knows. */
	wanted?: 'image' | 'video' | 'audio';
	/** The choice for a file of another kind, if the model takes it; continues "not …". */
	instead?: Partial<Record<FileType['kind'], string>>;
}

/** Why a file surely cannot be used; continues the label of its field. A video may be meant for its sound. */
export function problemOf(look: Look, { wanted, instead = {} }: LinkedFile): string | undefined {
	const { status, type } = look;
	if (status === 404 || status === 410) return `leads to no file (HTTP ${status})`;
	if (type === undefined) return undefined;
	const isRight =
		wanted === undefined
			? type.mimeType !== 'text/html'
			: isKind(type, wanted) || (wanted === 'audio' && type.kind === 'video');
	if (isRight) return undefined;
	const what = wanted ? withArticle[wanted] : 'a file';
	return `leads to ${type.name}, not to ${what}${instead[type.kind] ?? ''}`;
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
			await firstBytes(this.gateway.with({ signal: inTime }), url);
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
	const head = await headOf(readBody(response, { ...gateway.runtime, idleTimeout: patience }));
	const wholeLength = head.length < headLength ? head.length : undefined;
	const bytes = announcedLength(response) ?? wholeLength;
	return { status, type: fileTypeOf(head), bytes, size: imageSizeOf(head) };
}
