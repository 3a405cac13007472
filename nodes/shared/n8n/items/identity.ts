import { createHash } from 'crypto';
import type { IBinaryData } from 'n8n-workflow';
import { isObject } from '../../gateway/json';

/** The same for equal values, in every execution. Files among them are equal when their type and size are. */
export function hashOf(value: unknown): string {
	const plain = JSON.stringify(value);
	// Most requests have no file, and a replacer takes much longer.
	const json = plain.includes('"mimeType":')
		? JSON.stringify(value, (_, part: unknown) => (isFile(part) ? factsOf(part) : part))
		: plain;
	return createHash('sha256').update(json).digest('hex');
}

/** A node that fetches a file again, as a Retry may, gives it another ID, and perhaps another name. */
function factsOf(file: IBinaryData): unknown {
	const { id, mimeType, bytes, fileName, fileSize } = file;
	// Its content is in it.
	if (id === undefined) return file;
	// n8n 1 tells the size in rounded words only.
	return { mimeType, size: bytes ?? [fileName, fileSize] };
}

function isFile(value: unknown): value is IBinaryData {
	return isObject(value) && typeof value.mimeType === 'string' && typeof value.data === 'string';
}
