import { EventParser } from '../../nodes/shared/service/chat/eventStream';
import { Redaction } from '../../nodes/shared/service/client/redaction';
import { readReason } from '../../nodes/shared/service/reader/page';
import { reasonIn } from '../../nodes/shared/service/reader/reason';
import { read } from '../../nodes/shared/service/reader/values';
import { jobFailed } from '../../nodes/shared/service/errors/jobErrors';
import { refused } from '../../nodes/shared/service/errors/requestErrors';
import { readChatImages } from '../../nodes/shared/service/images/responses';
import { UnusableResponse } from '../../nodes/shared/service/client/response';
import { createdTask } from '../../nodes/shared/service/jobs/responses';
import { parseResponse } from '../../nodes/shared/service/json';
import { asLink, linkProblem } from '../../nodes/shared/service/links';
import { oneLine } from '../../nodes/shared/service/oneLine';
import { asHtml, asMarkdown, withoutTags } from '../../nodes/shared/n8n/display/plainText';
import { recordOf } from '../../nodes/shared/n8n/errors/errorRecord';
import { accidentIn } from '../../nodes/shared/n8n/parameters/accidentalText';
import { nodeError } from '../../nodes/shared/n8n/errors/nodeError';

/** Length of a text, in characters of its JSON; the nightly run takes 1 MB. */
const length = Number(process.env.HOSTILE_LENGTH ?? 200_000);

/** Milliseconds of CPU time: many times what a linear reader needs, and a fraction of what a quadratic one does. */
const limit = length / 400;

/** Texts that make a careless pattern backtrack again and again; some of them did so in this package. */
const repeated = [
	'violat ',
	'violation of ',
	'insufficient_',
	'insufficient ',
	'_',
	'a_',
	"n't ",
	'not ',
	'http://',
	'https://a.',
	'http://a.png',
	'![](',
	'[',
	'](',
	'(data:image/png,',
	'A',
	' ',
	'![a](<',
	'![a](( ',
	'![a](a b(',
	'\\',
	'<img/src=a',
	`/9j/${'A'.repeat(60)} `,
	'![a][',
	'\n[a]: ',
	'https://a.png.',
	'https://a)(',
	'<img ',
	'<img src',
	'<img src="',
	'\\"',
	"<img src='",
	'data:image/',
	'data:image/a,<svg ',
	`${'A'.repeat(60)}\n`,
	'\n',
	'\r\n',
	'data: ',
	':',
	'\\u0000',
	'.',
	'/',
	'1',
	'1.',
	'1m',
	'video/',
	'<',
	'<title>',
	'</title ',
	'<title a',
	'<script>',
	'<a:message',
	'<![CDATA[',
	']]>',
	'<b>',
	'&',
	'&#',
	'&#0',
	'&#x',
	'&#115',
	'&amp;',
	'&amp',
	';',
	'%41',
	'%25',
	'/%2e',
	'%c0%ae',
	'\ufffd',
	'image 1',
	'video ',
	'"task_id": ',
	'"task_id":"',
	'media[',
	'media[1].',
	'{{',
	'}}',
	'{{ }}',
	'{{ $json',
	'}}{{',
	'[object Object]',
	'[object Object]}}{{',
	'\ud83d',
	'"',
	'{"a":',
	'EACCES ',
	'ECONNRESET',
	'-',
	'\u200d',
	'\u{1f3f4}',
];
const job = { kind: 'task', id: 'task_1' } as const;
const node = {
	id: '1',
	name: 'Create',
	type: 'x',
	typeVersion: 1,
	position: [0, 0] as [number, number],
	parameters: {},
};

const create = { purpose: 'create the video', cost: 'job' } as const;
const response = (json: object) => {
	const text = JSON.stringify(json);
	return { status: 200, headers: {}, text, json, url: 'https://gateway.example/v1' };
};

const readers: Array<[what: string, read: (text: string) => unknown]> = [
	...[400, 429, 500].map((status): [string, (text: string) => unknown] => [
		`the message of an HTTP ${status}`,
		(message) => {
			const text = JSON.stringify({ error: { message } });
			return nodeError(node, {
				error: refused(create, { status, headers: {}, text }),
				others: [],
				jobs: [],
				jobsAreKept: true,
			});
		},
	]),
	['an error page', (text) => recordOf(refused(create, { status: 502, headers: {}, text }))],
	[
		'a body that is not JSON',
		(text) => [
			readReason(text, { 'content-type': 'text/html' }),
			parseResponse(`{"${text}`),
			readReason(`<html><title>${text}`, {}),
			readReason(`<Error><Message>${text}`, {}),
		],
	],
	[
		'a reason within a reason',
		(text) => [
			reasonIn(read({ error: { message: text, metadata: { raw: `<html>${text}` } } })),
			reasonIn(read(`{"error":${text}`)),
		],
	],
	['what a failed job says', (message) => jobFailed(job, { failure: { message }, text: message })],
	[
		'a broken response to an order',
		(text) => createdTask({ ...response({}), text: `{"task_id": ${text}`, json: undefined }),
	],
	['a text that may hold accidents', (text) => [accidentIn(text, true), accidentIn(`{{${text}}}`)]],
	[
		'the text of an image chat',
		(content) => readChatImages(response({ choices: [{ message: { content } }] })),
	],
	[
		'a text that is shown as text',
		(text) => [asHtml(oneLine(text)), withoutTags(text), asMarkdown(text)],
	],
	['an event stream', (text) => new EventParser().push(text)],
	['a link', (text) => [linkProblem(text), asLink(text), linkProblem(`https://a.b/${text}`)]],
	['a text that may have the key', (text) => new Redaction('sk-0123456789abcdef').text(text)],
];

/** A reader may reject a text as unusable; any other error is a bug. @returns milliseconds of CPU time */
function milliseconds(work: () => unknown): number {
	const begin = process.cpuUsage();
	try {
		work();
	} catch (error) {
		if (!(error instanceof UnusableResponse)) throw error;
	}
	const { user, system } = process.cpuUsage(begin);
	return (user + system) / 1000;
}

it.each(readers)('reads %s in linear time, even when it is long and repetitive', (_, read) => {
	const slow = repeated.filter((part) => {
		const text = part.repeat(length / (JSON.stringify(part).length - 2));
		// V8 may collect garbage or compile during one of the runs.
		return [1, 2, 3].every(() => milliseconds(() => read(text)) > limit);
	});
	expect(slow).toEqual([]);
});
