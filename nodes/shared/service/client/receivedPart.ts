import { withoutUndefined } from '../json';
import type { HttpResponse } from './http';

/** The numbers of `Content-Range` (RFC 9110, 14.4), as far as it has them. */
function rangeOf({ headers }: HttpResponse): Partial<Record<string, string>> {
	const pattern = /^bytes (?:(?<first>\d+)-(?<last>\d+)|\*)\/(?:(?<length>\d+)|\*)$/i;
	return pattern.exec(headers['content-range'] ?? '')?.groups ?? {};
}

/** The length that a response announces for the whole file. */
export function announcedLength(response: HttpResponse): number | undefined {
	const { status, headers } = response;
	const isAboutPart = status === 206 || status === 416;
	const bytes = Number(isAboutPart ? rangeOf(response).length : headers['content-length']);
	return bytes >= 0 ? bytes : undefined;
}

/** Whether a response declares less than the requested rest of the file. */
export function isShortRange(response: HttpResponse): boolean {
	const { last, length } = rangeOf(response);
	return Number(last) + 1 < Number(length);
}

interface FileVersion {
	etag?: string;
	date?: string;
	length?: number;
}

/** The received part of a file, and whether a response continues it (RFC 9110, 14). */
export class ReceivedPart {
	/** Bytes. */
	length = 0;
	private version: FileVersion = {};
	private url?: string;

	get etag(): string | undefined {
		return this.version.etag;
	}

	/** Whether these are as many bytes as the host announced for the file. */
	get hasAnnouncedLength(): boolean {
		return this.version.length === this.length;
	}

	/** The content of a response: the bytes that follow, none because the file ends here, other bytes, or no file. */
	contentOf(response: HttpResponse, url: string): 'next' | 'end' | 'other' | 'refused' {
		const { status, headers } = response;
		const { etag, 'last-modified': date } = headers;
		const version = withoutUndefined({ etag, date, length: announcedLength(response) });
		if (status === 416) return version.length === this.length ? 'end' : 'other';
		if (status < 200 || status >= 300) return 'refused';
		// Some hosts send another part than was requested, such as one cached for another request.
		const first = status === 206 ? Number(rangeOf(response).first ?? 0) : 0;
		const isNext = first === this.length && (this.length === 0 || this.isOf(version, url));
		if (!isNext) return 'other';
		this.version = this.length === 0 ? version : { ...version, ...this.version };
		this.url ??= url;
		return 'next';
	}

	/** Compares the headers that both responses have, since a host may omit any; without any, the links. */
	private isOf(version: FileVersion, url: string): boolean {
		const given = Object.keys(version) as Array<keyof FileVersion>;
		const names = given.filter((name) => name in this.version);
		// A file that is not whole at its announced length has to be longer.
		const isSame = (name: keyof FileVersion) =>
			version[name] === this.version[name] || (name === 'length' && this.hasAnnouncedLength);
		return names.length > 0 ? names.every(isSame) : url === this.url;
	}
}
