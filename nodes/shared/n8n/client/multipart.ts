/**
 * A form as multipart/form-data (RFC 7578). A prompt is sent as it was written: HTTP clients, as a browser, would change
 * its line breaks to CRLF.
 */
export async function encodedForm(form: FormData, boundary: string) {
	const parts: Buffer[] = [];
	for (const [name, value] of [...form.entries()] as Array<[string, string | File]>) {
		const isText = typeof value === 'string';
		const file = isText ? '' : `; filename="${quoted(value.name)}"`;
		const type = isText ? '' : `Content-Type: ${value.type || 'application/octet-stream'}\r\n`;
		const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n${type}\r\n`;
		const content = isText ? Buffer.from(value) : Buffer.from(await value.arrayBuffer());
		parts.push(Buffer.from(head), content, Buffer.from('\r\n'));
	}
	return {
		body: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
		headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
	};
}

/** As browsers write a name (HTML, "multipart form data"). */
const quoted = (name: string) =>
	name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
