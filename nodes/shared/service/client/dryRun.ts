import { parseJson, withoutUndefined, withTexts, type JsonObject } from '../json';
import type { HttpRequest } from './http';
import type { Redaction } from './redaction';

/** Thrown by a dry run instead of sending a request. */
export class DryRun extends Error {
	constructor(
		private readonly sent: Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body'>,
		private readonly redaction: Redaction,
	) {
		super('Nothing was sent');
	}

	/** The request as it would be sent, without the API key. Files are only described: a log could not hold them. */
	get request(): JsonObject {
		const { method, url, headers, body } = this.sent;
		const shown =
			typeof body === 'string' ? withTexts(parseJson(body), shortened) : body && formOf(body);
		return this.redaction.json({ method, url, headers, ...withoutUndefined({ body: shown }) });
	}
}

const maxDataUrlLength = 100;

function shortened(text: string): string {
	const isLong = text.length > maxDataUrlLength && text.startsWith('data:');
	return isLong ? `${text.slice(0, maxDataUrlLength)}… (${text.length} characters)` : text;
}

function formOf(form: FormData): JsonObject {
	const fields: JsonObject = {};
	form.forEach((value, name) => {
		const shown =
			typeof value === 'string'
				? shortened(value)
				: { file_name: value.name, mime_type: value.type, bytes: value.size };
		// A form may have several fields of one name.
		fields[name] = name in fields ? [fields[name], shown].flat() : shown;
	});
	return fields;
}
