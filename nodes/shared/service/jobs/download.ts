import type { FileSource } from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import type { GatewayError } from '../errors/gatewayError';
import { transferFile, type Store } from '../client/transfer';
import { maxFileBytes, maxUnannouncedBytes } from '../protocol/bounds';
import { limits } from '../protocol/limits';

export interface DownloadRequest {
	source: FileSource;
	/** Requests a new link when the old one has expired. */
	refresh?: () => Promise<FileSource>;
	/** Continues "Could not …" in errors. */
	purpose: string;
	/** Milliseconds. */
	timeout?: number;
}

/** Downloads a finished video ("Endpoints" 3), whatever its format. @throws GatewayError */
export async function downloadVideo<T>(
	gateway: Gateway,
	{ timeout: patience = limits.waitMinutes * 60_000, ...request }: DownloadRequest,
	store: Store<T>,
) {
	const transfer = {
		...request,
		wanted: 'video' as const,
		bounds: { patience, maxBytes: maxFileBytes, maxUnannounced: maxUnannouncedBytes },
		// The advice says that the video is finished and can be fetched later.
		charged: (error: GatewayError) => {
			const { kind } = error.failure;
			const retry_can_help = kind !== 'excess' && kind !== 'linkLeadsInside';
			return error.with({ made: 'video', billed: 'yes', retry_can_help });
		},
	};
	return await transferFile(gateway, transfer, store);
}
