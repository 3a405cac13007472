/** The file in a data URL (RFC 2397), or in a text that is nothing but base64. */
export function fileInText(text: string): { bytes: Buffer; mimeType?: string } {
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
