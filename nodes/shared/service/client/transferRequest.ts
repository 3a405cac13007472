import type { GatewayError } from '../errors/gatewayError';
import type { FileType } from '../files/fileType';
import type { FileSource } from './fileRequest';
import type { TransferLimit } from './transferLimit';

/** Follows a file while its bytes are streamed, and judges whether all of them have arrived. */
export interface FileEnd {
	push(bytes: Uint8Array): void;
	/**
	 * - `whole`: even if the connection breaks off here; `likelyWhole`: if it breaks off here once more
	 * - `cut`: the file surely ends in the middle
	 */
	readonly state: 'whole' | 'likelyWhole' | 'cut' | undefined;
	/** Why the file may have ended early, unless its length was announced; continues "the file …". */
	readonly doubt?: string;
}

/** A file to transfer. What differs between a video and an image is handed in here. */
export interface TransferRequest<End extends FileEnd> {
	source: FileSource;
	/** Requests a new link to the file from the service, when the old one has expired. Undefined where there is none. */
	refresh?: () => Promise<FileSource>;
	/** Continues "Could not …" in errors. */
	purpose: string;
	wanted: 'image' | 'video';
	limit: TransferLimit;
	/** Judges the end of a file of this type. */
	endOf: (type: FileType) => End;
	/** Whether a file that its host always ends in the middle is delivered all the same. */
	takesCut?: boolean;
	/** The same failure, of a file that is charged. */
	charged: (error: GatewayError) => GatewayError;
}

export interface Transferred<T, End> {
	/** What the store returned. */
	stored: T;
	type: FileType;
	end: End;
}

/** Consumes the bytes of a file. */
export type Store<T> = (bytes: AsyncIterable<Uint8Array>, type: FileType) => Promise<T>;
