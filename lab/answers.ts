import { setImmediate } from 'node:timers/promises';
import { completeChat } from '../nodes/shared/gateway/chat/complete';
import { Gateway } from '../nodes/shared/gateway/client/gateway';
import type { ServiceResponse } from '../nodes/shared/gateway/client/response';
import { embeddingList } from '../nodes/shared/gateway/embeddings/responses';
import { GatewayError } from '../nodes/shared/gateway/errors/gatewayError';
import { readChatImages, readImages } from '../nodes/shared/gateway/images/responses';
import { jobStatus } from '../nodes/shared/gateway/jobs/responses';
import { parseJson, valueAt } from '../nodes/shared/gateway/json';
import { listModels } from '../nodes/shared/gateway/models/list';
import { endpoints } from '../nodes/shared/gateway/protocol/endpoints';
import { clock } from '../nodes/shared/n8n/client/httpClient';
import { median } from '../test/support/data/statistics';
import { LoopWatch } from './items/loopWatch';
import { atMost, type Figure } from './report';

/** In milliseconds for each 10 MB, beside what JSON.parse takes. */
const maxBlock = 100;
const [rounds, chunkLength] = [5, 65_536];

type Request = (gateway: Gateway) => Promise<unknown>;

const models: Request = async (gateway) => await listModels(gateway);
const chat: Request = async (gateway) =>
	await completeChat(gateway, { body: {}, parse: (completion) => completion });
const stream: Request = async (gateway) =>
	await completeChat(gateway, { body: { stream: true }, parse: (completion) => completion });
const parsedBy =
	(parse: (response: ServiceResponse) => unknown): Request =>
	async (gateway) =>
		await gateway.call({ endpoint: endpoints.imageGenerate, purpose: 'measure', parse });
const images = parsedBy(readImages);

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

const kinds: Array<[kind: string, text: (length: number) => string, request: Request]> = [
	[
		'vectors',
		(length) => `{"data":[${many(`${vector},`, length)}${vector}],"note":"\\u00e4"}`,
		parsedBy((response) => embeddingList(response, Number(valueAt(response.json, 'data.length')))),
	],
	['10 images as base64', inList(`{"b64_json":"${many(base64, 1_000_000)}"}`), images],
	[
		'an image in the text of a chat',
		inText(`![a](data:image/png;base64,${many(base64, 5e6)})`),
		parsedBy(readChatImages),
	],
	['models', inList('{"id":"model-1","object":"model","created":1700000000}'), models],
	['numbers in the place of models', inList('0'), models],
	['numbers in the place of a job', inList('12345678901234567890'), parsedBy(jobStatus)],
	[
		'tokens with their alternatives',
		(length) =>
			`{"choices":[{"message":{"content":"\\u00e4"},"logprobs":[${many(`${token},`, length)}0]}]}`,
		chat,
	],
	['a text of quotes and escapes', inText('\\"a\\" \\u00e4'), chat],
	[
		'the events of a stream',
		(length) => many('data: {"choices":[{"delta":{"content":"a"}}]}\n\n', length),
		stream,
	],
	['one event of a stream', (length) => `data: ${inText('a')(length)}\n\n`, stream],
	['different texts', uniqueParts((name) => `"${name}"`), images],
	['objects with different names', uniqueParts((name) => `{"${name}":0}`), images],
	[
		'one object with different names',
		(length) => differentNames(length).replace('[', '{').replace(']}', '}}'),
		images,
	],
	['empty lists', inList('[]'), models],
	['small objects', inList('{"a":1}'), images],
];

/** Measures how long large responses of every kind block n8n. */
export async function measureAnswers({ megabytes }: { megabytes: number }): Promise<Figure[]> {
	const length = megabytes * 1_000_000;
	const figures: Figure[] = [];
	for (const [kind, textOf, request] of kinds) {
		const bytes = Buffer.from(textOf(length));
		const share = 10_000_000 / Math.max(10_000_000, bytes.length);
		const blocks: number[] = [];
		let outcome = '';
		for (let round = 0; round < rounds; round++) {
			globalThis.gc?.();
			const watch = new LoopWatch();
			outcome = await outcomeOf(request(gatewayWith(bytes)));
			blocks.push(watch.end() * share);
		}
		const floor = parseTime(bytes.toString().replace(/^data: /, '')) * share;
		const block = median(blocks);
		const value = `${block.toFixed(0)} ms, of which JSON.parse ${floor.toFixed(0)} ms (${outcome})`;
		figures.push(atMost(kind, block - floor, maxBlock, { unit: 'ms', value }));
	}
	return figures;
}

async function outcomeOf(response: Promise<unknown>): Promise<string> {
	try {
		await response;
		return 'used';
	} catch (error) {
		if (!(error instanceof GatewayError)) throw error;
		return error.failure.isExcess ? 'not read to its end' : 'unusable';
	}
}

/** A gateway that gives this response to each request. */
function gatewayWith(bytes: Uint8Array): Gateway {
	async function* body() {
		for (let at = 0; at < bytes.length; at += chunkLength) {
			await setImmediate();
			yield bytes.subarray(at, at + chunkLength);
		}
	}
	const http = async () =>
		await Promise.resolve({ status: 200, headers: {}, body: body(), close: () => undefined });
	const [key, baseUrl] = ['sk-0123456789abcdef', 'https://gateway.example/v1'];
	const connection = { key, baseUrl, asyncHeaderName: 'X-Gateway-Async' };
	return new Gateway(connection, { http, clock, random: Math.random });
}

/** Milliseconds of CPU time; 0 for a text that is not parsed. */
function parseTime(text: string): number {
	if (parseJson(text) === undefined) return 0;
	const times = Array.from({ length: rounds }, () => {
		globalThis.gc?.();
		const begin = process.cpuUsage();
		JSON.parse(text);
		return process.cpuUsage(begin).user / 1000;
	});
	return median(times);
}
