import { breakOff, type Reply } from './scriptedServer';

export interface StorageOptions {
	/** Null for none. */
	etag?: string | null;
	/** Whether it resumes a transfer. */
	ranges?: boolean;
	/** The offset in the file at which the connection breaks, whatever range was requested. */
	until?: number;
	headers?: Record<string, string | number>;
}

/** Serves a file as object storage does. */
export function storage(
	file: Uint8Array,
	{ etag = '"v1"', ranges = true, until = file.length, headers = {} }: StorageOptions = {},
): Reply {
	return (response, { headers: { range = '', 'if-range': version } }) => {
		// A weak tag does not guarantee the same bytes (RFC 9110, 13.1.5).
		const isSame = version === undefined || (version === etag && !version.startsWith('W/'));
		const asked = ranges && isSame ? /^bytes=(\d+)-$/.exec(range)?.[1] : undefined;
		const first = Number(asked ?? 0);
		if (first >= file.length) {
			response.writeHead(416, { 'content-range': `bytes */${file.length}` }).end();
			return;
		}
		response.writeHead(asked === undefined ? 200 : 206, {
			'content-type': 'video/mp4',
			'content-length': file.length - first,
			...(etag !== null && { etag }),
			...(asked !== undefined && {
				'content-range': `bytes ${first}-${file.length - 1}/${file.length}`,
			}),
			...headers,
		});
		response.write(file.subarray(first, until), () => {
			if (until < file.length) breakOff(response);
			else response.end();
		});
	};
}
