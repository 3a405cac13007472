import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crc32, gzipSync } from 'node:zlib';
import type { Kind, Recipe } from './recipes';

const document = (
	kind: Kind,
	name: string,
	types: Recipe['types'],
	content: string | Exclude<Recipe['make'], string>,
	endings?: string[],
): [string, Recipe] => [
	name,
	{
		kind,
		types,
		endings,
		make: typeof content === 'string' ? () => Buffer.from(content) : content,
	},
];

/** An archive with its files stored as they are. */
function zip(files: Record<string, string>): Buffer {
	const [locals, entries]: [Buffer[], Buffer[]] = [[], []];
	let offset = 0;
	for (const [name, text] of Object.entries(files)) {
		const [fileName, content] = [Buffer.from(name), Buffer.from(text)];
		const common = Buffer.alloc(26);
		common.writeUInt16LE(20);
		common.writeUInt32LE(crc32(content), 10);
		common.writeUInt32LE(content.length, 14);
		common.writeUInt32LE(content.length, 18);
		common.writeUInt16LE(fileName.length, 22);
		const rest = Buffer.alloc(14);
		rest.writeUInt32LE(offset, 10);
		const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, fileName, content]);
		entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, rest, fileName]));
		locals.push(local);
		offset += local.length;
	}
	const end = Buffer.alloc(18);
	end.writeUInt16LE(entries.length, 4);
	end.writeUInt16LE(entries.length, 6);
	end.writeUInt32LE(Buffer.concat(entries).length, 8);
	end.writeUInt32LE(offset, 12);
	return Buffer.concat([...locals, ...entries, Buffer.from('PK\x05\x06'), end]);
}

/** Bytes that look random, and are the same in every run. */
const noise = (length: number) =>
	Buffer.concat(
		Array.from({ length: length / 32 }, (_, index) =>
			createHash('sha256').update(String(index)).digest(),
		),
	);

const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`;

const base64 = (file: Buffer) => file.toString('base64');

/** Files that are neither pictures nor clips nor sounds. */
export const documents: Array<[string, Recipe]> = [
	document(
		'web page',
		'page.html',
		['text/html'],
		'<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in to download.</body></html>\n',
	),
	document(
		'web page',
		'bare-page.html',
		['text/html'],
		'\n\n<HTML>\n<body><svg width="9" height="9"></svg> Moved</body></HTML>',
	),
	document(
		'XML',
		'denied.xml',
		['application/xml', 'text/xml'],
		'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
	),
	document(
		'JSON',
		'answer.json',
		['application/json'],
		'{"error":{"message":"The file has expired","code":404}}',
	),
	document('text', 'plain.txt', ['text/plain'], 'Grüße vom Strand: the picture follows by mail.\n'),
	document('text', 'base64.txt', ['text/plain'], (made) => Buffer.from(base64(made('plain.png')))),
	document('text', 'data-url.txt', ['text/plain'], (made) =>
		Buffer.from(`data:image/png;base64,${base64(made('plain.png'))}`),
	),
	document('PDF', 'plain.pdf', ['application/pdf'], pdf),
	document('archive', 'plain.zip', ['application/zip'], () => zip({ 'a.txt': 'A walk' })),
	document(
		'archive',
		'plain.docx',
		['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'application/zip'],
		() => zip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': '<w:document/>' }),
		['docx', 'zip'],
	),
	document('archive', 'plain.gz', ['application/gzip', 'application/x-gzip'], () =>
		gzipSync('A walk'),
	),
	document(
		'program',
		'true.elf',
		['application/x-executable', 'application/x-elf', 'application/x-sharedlib'],
		() => readFileSync('/bin/true').subarray(0, 4096),
	),
	document('unknown bytes', 'one-byte.bin', ['application/octet-stream'], '\x01'),
	document('unknown bytes', 'zeros.bin', ['application/octet-stream'], () => Buffer.alloc(4096)),
	document('unknown bytes', 'noise.bin', ['application/octet-stream'], () => noise(4096)),
	document('empty file', 'empty.bin', ['application/octet-stream'], ''),
];
