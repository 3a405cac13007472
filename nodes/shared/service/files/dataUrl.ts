/** A file that is written as a text: its bytes, and the MIME type that is declared (RFC 2397). */
interface TextFile {
	bytes: Buffer;
	mimeType?: string;
}

/** The file in a data URL, or in a text that is nothing but base64. */
export function fileInText(text: string): TextFile {
	// A regular expression would go through all of the file.
	const comma = /^data:/i.test(text) ? text.indexOf(',') : -1;
	const declared = comma < 0 ? undefined : text.slice('data:'.length, comma);
	const given = text.slice(comma + 1);
	const isBase64 = declared === undefined || /;base64$/i.test(declared);
	const data = isBase64 ? given : Buffer.from(given).toString('latin1');
	const plain = data.includes('%') ? unescape(data) : data;
	const bytes = Buffer.from(plain, isBase64 ? 'base64' : 'latin1');
	return { bytes, mimeType: declared };
}
