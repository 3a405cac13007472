import type { FileSource } from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { transferFile } from '../client/transfer';
import { TransferLimit } from '../client/transferLimit';
import type { FileEnd, Store } from '../client/transferRequest';
import type { FileType } from '../files/fileType';
import { Mp4Boxes } from '../files/mp4';
import { maxFileBytes, maxUnannouncedBytes } from '../protocol/bounds';
import { limits } from '../protocol/limits';

export interface DownloadRequest {
	source: FileSource;
	/** Requests a new link to the file from the service, when the old one has expired. */
	refresh: () => Promise<FileSource>;
	/** Continues "Could not …" in errors. */
	purpose: string;
	/** Milliseconds that the user waits for the video. Default: as recommended. */
	timeout?: number;
}

interface Downloaded<T> {
	/** What the store returned. */
	stored: T;
	type: FileType;
	/** Whether it is an mp4 without the index that players need, although all announced bytes have arrived. */
	lacksIndex: boolean;
}

/**
 * Downloads a finished video ("Endpoints" 3). An mp4 or QuickTime file is complete when its last box ends with the last
 * byte. Without its index, it is complete only if its length was announced.
 * @param store as for {@link transferFile}
 * @throws GatewayError
 */
export async function downloadVideo<T>(
	gateway: Gateway,
	{ timeout = limits.waitMinutes * 60_000, ...request }: DownloadRequest,
	store: Store<T>,
): Promise<Downloaded<T>> {
	const { stored, type, end } = await transferFile(
		gateway,
		{
			...request,
			wanted: 'video',
			limit: new TransferLimit(gateway.runtime.clock, {
				patience: timeout,
				maxBytes: maxFileBytes,
				maxUnannounced: maxUnannouncedBytes,
			}),
			endOf: () => new VideoEnd(),
			// The advice says that the video is finished and can be fetched later.
			charged: (error) => {
				const { kind } = error.failure;
				const retry_can_help = kind !== 'excess' && kind !== 'linkLeadsInside';
				return error.with({ made: 'video', billed: 'yes', retry_can_help });
			},
		},
		store,
	);
	return { stored, type, lacksIndex: type.kind !== 'image' && end.lacksIndex };
}

/** The end of a video, which may have any format. */
class VideoEnd extends Mp4Boxes implements FileEnd {
	get state(): FileEnd['state'] {
		return this.isTruncated ? 'cut' : this.isComplete ? 'likelyWhole' : undefined;
	}

	get doubt(): string | undefined {
		// Fewer bytes than a box may be the beginning of one.
		const mayBeCut = this.lacksIndex || this.isMp4 === undefined;
		return mayBeCut ? 'ends before its index' : undefined;
	}
}
