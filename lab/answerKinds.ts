import { completeChat } from '../nodes/shared/service/chat/complete';
import { completion } from '../nodes/shared/service/chat/completion';
import type { Gateway } from '../nodes/shared/service/client/gateway';
import type { ServiceResponse } from '../nodes/shared/service/client/response';
import { embeddingList } from '../nodes/shared/service/embeddings/responses';
import { readChatImages, readImages } from '../nodes/shared/service/images/responses';
import { createdTask, jobStatus, videoContent } from '../nodes/shared/service/jobs/responses';
import { valueAt } from '../nodes/shared/service/json';
import { listModels } from '../nodes/shared/service/models/list';
import { endpoints } from '../nodes/shared/service/protocol/endpoints';

/** A kind of large response, and the request to which it is given. */
export interface AnswerKind {
	kind: string;
	/** @param length about how many characters */
	text: (length: number) => string;
	request: (gateway: Gateway) => Promise<unknown>;
	/** Default: 200. */
	status?: number;
	type?: string;
}

type Request = AnswerKind['request'];

const once = { retries: 0 };

const models: Request = async (gateway) => await listModels(gateway, once);
const chat: Request = async (gateway) =>
	await completeChat(gateway, { ...once, body: {}, parse: (completion) => completion });
const stream: Request = async (gateway) =>
	await completeChat(gateway, {
		...once,
		body: { stream: true },
		parse: (completion) => completion,
	});
const asked =
	(endpoint: keyof typeof endpoints) =>
	(parse: (response: ServiceResponse) => unknown): Request =>
	async (gateway) =>
		await gateway.call({
			endpoint: endpoints[endpoint],
			purpose: 'measure',
			id: 'a',
			...once,
			parse,
		});
const images = asked('imageGenerate')(readImages);
const chatImages = asked('imageGenerate')(readChatImages);
const create = asked('referenceVideoCreate')(createdTask);
const poll = asked('task')(jobStatus);
const content = asked('videoContent')(videoContent);
const message = asked('message')(completion);
const embeddings = asked('embedding')((response) =>
	embeddingList(response, Number(valueAt(response.json, 'data.length'))),
);

/** A request to each endpoint. */
export const requests: Record<string, Request> = {
	models,
	chat,
	stream,
	images,
	chatImages,
	create,
	poll,
	content,
	message,
	embeddings,
};

/** A text of about this many characters: one part again and again. */
const many = (part: string, length: number) => part.repeat(Math.ceil(length / part.length));
const base64 = 'iVBORw0KGgo';
const vector = `[${many('-0.0123456789012345,', 61_000)}0.5]`;
const token = '{"token":"ab","logprob":-1.2345,"bytes":[97,98]}';

/** All have an escaped letter, so that the key is looked for in each value. */
const inList = (part: string) => (length: number) =>
	`{"note":"\\u00e4","data":[${many(`${part},`, length)}{"id":"last"}]}`;
const inText = (part: string) => (length: number) =>
	`{"choices":[{"message":{"content":"\\u00e4${many(part, length)}"}}]}`;
const uniqueParts = (part: (name: string) => string) => (length: number) => {
	const parts = Array.from({ length: length / 12 }, (_, index) =>
		part(((index * 2_654_435_761) >>> 0).toString(36)),
	);
	return `{"note":"\\u00e4","data":[${parts.join(',')}]}`;
};
const differentNames = uniqueParts((name) => `"${name}":0`);

const usual: AnswerKind[] = [
	{
		kind: 'vectors',
		text: (length) => `{"data":[${many(`${vector},`, length)}${vector}],"note":"\\u00e4"}`,
		request: embeddings,
	},
	{
		kind: '10 images as base64',
		text: inList(`{"b64_json":"${many(base64, 1_000_000)}"}`),
		request: images,
	},
	{
		kind: 'an image in the text of a chat',
		text: inText(`![a](data:image/png;base64,${many(base64, 5e6)})`),
		request: chatImages,
	},
	{
		kind: 'models',
		text: inList('{"id":"model-1","object":"model","created":1700000000}'),
		request: models,
	},
	{
		kind: 'tokens with their alternatives',
		text: (length) =>
			`{"choices":[{"message":{"content":"\\u00e4"},"logprobs":[${many(`${token},`, length)}0]}]}`,
		request: chat,
	},
	{ kind: 'a text of quotes and escapes', text: inText('\\"a\\" \\u00e4'), request: chat },
	...(['stream', 'chat'] as const).map((asked) => ({
		kind: `the events of a stream${asked === 'chat' ? ' that was not asked for' : ''}`,
		text: (length: number) => many('data: {"choices":[{"delta":{"content":"a"}}]}\n\n', length),
		request: asked === 'chat' ? chat : stream,
	})),
	{
		kind: 'one event of a stream',
		text: (length) => `data: ${inText('a')(length)}\n\n`,
		request: stream,
	},
];

const unusual: AnswerKind[] = [
	{ kind: 'numbers in the place of models', text: inList('0'), request: models },
	{ kind: 'numbers in the place of a job', text: inList('12345678901234567890'), request: poll },
	{ kind: 'different texts', text: uniqueParts((name) => `"${name}"`), request: images },
	{
		kind: 'objects with different names',
		text: uniqueParts((name) => `{"${name}":0}`),
		request: images,
	},
	{
		kind: 'one object with different names',
		text: (length) => differentNames(length).replace('[', '{').replace(']}', '}}'),
		request: images,
	},
	{ kind: 'empty lists', text: inList('[]'), request: models },
	{ kind: 'small objects', text: inList('{"a":1}'), request: models },
	{ kind: 'spaces in the place of a job', text: inList(' '), request: poll },
	{ kind: 'empty events', text: (length) => many('data: {}\n\n', length), request: chat },
	{ kind: 'empty lines', text: (length) => many('\n', length), request: chat },
	{
		kind: 'the parts of a message',
		text: (length) => `{"content":[${many('{"type":"text","text":"a"},', length)}{"text":"a"}]}`,
		request: message,
	},
];

/** Two reasons, of which it takes very long to see whether the one is part of the other. */
function repetitive(length: number): string {
	const part = 'a'.repeat(length / 6);
	return `"message":"${part.repeat(4)}","detail":"${part}b${part}"`;
}
const reasonNames = [
	'title',
	'message',
	'msg',
	'status_message',
	'detail',
	'reason',
	'description',
	'details',
];
/** Reasons within reasons, as often as they are read. */
const reasons = (depth: number): object =>
	Object.fromEntries(reasonNames.map((name) => [name, depth === 0 ? {} : reasons(depth - 1)]));
const trees = (length: number) => {
	const tree = JSON.stringify(reasons(3));
	return `${tree.slice(0, -1)},"errors":[${many(`${tree},`, length)}{}]}`;
};
const texts = (length: number) => {
	const group = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`k${index}`, 'x']));
	const text = JSON.stringify(group);
	const groups = Array.from({ length: length / text.length }, (_, index) => `"g${index}":${text}`);
	return `{"status":"in_progress",${groups.join(',')}}`;
};

const hostile: AnswerKind[] = [
	...[400, 500].map((status) => ({
		kind: `an error of HTTP ${status} whose reason repeats itself`,
		text: (length: number) => `{"error":{${repetitive(length)}}}`,
		request: create,
		status,
	})),
	{
		kind: 'an error whose reason repeats itself, with HTTP 200',
		text: (length) => `{"error":{${repetitive(length)}}}`,
		request: chat,
	},
	{
		kind: 'a failed job whose reason repeats itself',
		text: (length) => `{"status":"failed",${repetitive(length)}}`,
		request: poll,
	},
	{
		kind: 'a failed job whose reason is a list',
		text: (length) => `{"status":"failed","error":[${many('{"message":"a"},', length)}{}]}`,
		request: poll,
	},
	{
		kind: 'an error with trees of reasons',
		text: (length) => `{"error":${trees(length)}}`,
		request: create,
		status: 400,
	},
	{
		kind: 'a failed job with trees of reasons',
		text: (length) => `{"status":"failed","error":${trees(length)}}`,
		request: poll,
	},
	{
		kind: 'an error in an error, as JSON in its text',
		text: (length) => `{"error":{"message":${JSON.stringify(`{"error":${trees(length / 2)}}`)}}}`,
		request: create,
		status: 400,
	},
	{ kind: 'many short texts in a poll', text: texts, request: poll },
	{ kind: 'many short texts in the content of a video', text: texts, request: content },
	{
		kind: 'many links in the content of a video',
		text: (length) => `{"a":[${many(`["${many('","/a b', 1000)}"],`, length)}0]}`,
		request: content,
	},
	...[
		'![a](https://a.b/c.png) ',
		'[a](b)',
		'![](a \\"',
		'![a][a]\\n[a]: b\\n',
		'https://a.b/c ',
		'<img src=\\"a\\">',
		'<img src=a ',
		'data:image/a,b ',
		'(data:image/png,A A) ',
		'a ',
		`${base64}${'A'.repeat(40)} `,
		'\\n',
	].map((part) => ({
		kind: `an image chat of ${part.trim().slice(0, 30) || part}`,
		text: inText(part),
		request: chatImages,
	})),
	{
		kind: 'links in the place of images',
		text: inList('{"url":"https://a.b/c"}'),
		request: images,
	},
	{
		kind: 'an image beside many values',
		text: (length) =>
			`{"data":[{"url":"https://a.b/c"}],"more":[${many('{"a":12345},', length)}0]}`,
		request: images,
	},
	...(['text/html', 'text/plain', 'application/json'] as const).flatMap((type) =>
		['<title a', '<b>&amp;</b>', ' ', 'a ', '0,'].map((part) => ({
			kind: `an error of ${JSON.stringify(part)} as ${type}`,
			text: (length: number) => many(part, length),
			request: create,
			status: 502,
			type,
		})),
	),
];

export const answerKinds = [...usual, ...unusual, ...hostile];
