import type { FileSource } from '../../../nodes/shared/gateway/client/fileRequest';
import { downloadVideo, type DownloadRequest } from '../../../nodes/shared/gateway/jobs/download';
import { mp4Of } from '../files/boxes';
import { gatewayTo, type WorldOptions } from './gatewayWorld';
import { publicUrl } from '../http/publicNames';
import type { ScriptedServer } from '../http/scriptedServer';
import { storage, type StorageOptions } from '../http/scriptedStorage';
import { sha256 } from '../data/sha256';

/** The video to download. */
export const file = mp4Of(200_000);
/** Another file of the same length. */
export const twin = mp4Of(200_000);
/** Storages that send the whole file, and that break off in the middle. */
export const whole = storage(file);
export const half = (options: StorageOptions = {}) => storage(file, { until: 100_000, ...options });

/** An address without a storage. */
export const elsewhere = 'https://gateway.example';

interface Downloading extends WorldOptions {
	path?: string;
	/** The base URL of the gateway. */
	baseUrl?: string;
	authenticated?: boolean;
	/** Whether it is the content of a video job, and not the link of a task. */
	mayNeedKey?: true;
	refresh?: DownloadRequest['refresh'];
	timeout?: DownloadRequest['timeout'];
	/** Called whenever bytes have reached the store. */
	onBytes?: () => Promise<void> | void;
}

/** Downloads from a storage host with a public name, unless it is the gateway, into memory, and also returns what was stored at each try, and as which type. */
export const download = (
	{ url }: Pick<ScriptedServer, 'url'>,
	{
		path = '/v.mp4?sig=1',
		authenticated = false,
		mayNeedKey,
		refresh,
		timeout,
		onBytes,
		baseUrl = elsewhere,
		...options
	}: Downloading = {},
) => {
	const gateway = gatewayTo(baseUrl, options);
	const { runtime } = gateway;
	const stored: Buffer[] = [];
	const types: string[] = [];
	const start = runtime.clock.now();
	const host = baseUrl === elsewhere ? publicUrl(url) : url;
	const source: FileSource = { url: host + path, authenticated, mayNeedKey };
	const request = {
		...{ source, timeout, purpose: 'download it' },
		refresh: refresh ?? (async () => source),
	};
	const downloading = downloadVideo(gateway, request, async (bytes, { mimeType }) => {
		types.push(mimeType);
		const pieces: Uint8Array[] = [];
		try {
			for await (const piece of bytes) {
				pieces.push(piece);
				await onBytes?.();
			}
		} finally {
			stored.push(Buffer.concat(pieces));
		}
		return sha256(Buffer.concat(pieces));
	});
	const done = downloading.then(({ stored: hash }) => hash);
	return { done, downloading, stored, types, runtime, passed: () => runtime.clock.now() - start };
};

/** The Range header of each request. */
export const rangesOf = ({ requests }: ScriptedServer) =>
	requests.map(({ headers }) => headers.range);
