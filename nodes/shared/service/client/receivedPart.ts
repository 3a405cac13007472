import { withoutUndefined } from '../json';
import type { HttpResponse } from './http';
import { rangeOf } from './transferLimit';

/**
 * What a response contains of a partly received file: the bytes that follow, nothing because the file ends there, or
 * other bytes. `refused` is a response without any bytes of a file.
 */
type Content = 'next' | 'end' | 'other' | 'refused';

type FileVersion = Partial<Record<'etag' | 'date' | 'length', string>>;

/** The received part of a file, and whether a response continues it (RFC 9110, 14). */
export class ReceivedPart {
	/** Number of bytes. */
	length = 0;
	/** The ETag, date and length of the file these bytes belong to, which identify its version. */
	private version: FileVersion = {};
	/** The link these bytes came from. */
	private url?: string;

	get etag(): string | undefined {
		return this.version.etag;
	}

	/** Call this when the host announced a wrong length. */
	discardFileLength(): void {
		delete this.version.length;
	}

	/** Whether these are as many bytes as the host announced for the file. */
	get hasAnnouncedLength(): boolean {
		return Number(this.version.length ?? NaN) === this.length;
	}

	/** @param url where the response came from */
	classifyResponse({ status, headers }: HttpResponse, url: string): Content {
		const range = rangeOf(headers);
		const { etag, 'last-modified': date } = headers;
		const isPart = status === 206;
		const isFile = status >= 200 && status < 300 && !isPart;
		const length = isFile ? headers['content-length'] : range.length;
		const version: FileVersion = withoutUndefined({ etag, date, length });

		if (this.length === 0 && (isFile || isPart)) {
			this.version = version;
			this.url = url;
			return 'next';
		}
		if (isPart && this.isOf(version, url) && Number(range.first) === this.length) {
			this.version = { ...version, ...this.version };
			return 'next';
		}
		if (status === 416 && Number(range.length) === this.length) return 'end';
		return isFile || isPart || status === 416 ? 'other' : 'refused';
	}

	/** Compares the headers that both responses have, since a storage host may omit any; if there are none, the links. */
	private isOf(version: FileVersion, url: string): boolean {
		const given = Object.keys(version) as Array<keyof FileVersion>;
		const names = given.filter((name) => name in this.version);
		if (names.length === 0) return url === this.url;
		return names.every((name) => version[name] === this.version[name]);
	}
}

/** Whether a response declares less than the requested rest of the file. */
export function isShortRange({ status, headers }: HttpResponse): boolean {
	const { last, length } = rangeOf(headers);
	return status === 206 && Number(last) + 1 < Number(length);
}
