import { setImmediate } from 'node:timers/promises';
import { Gateway } from '../nodes/shared/service/client/gateway';
import { GatewayError } from '../nodes/shared/service/errors/gatewayError';
import { parseJson } from '../nodes/shared/service/json';
import { clock } from '../nodes/shared/n8n/client/httpClient';
import { median } from './statistics';
import { answerKinds, type AnswerKind } from './answerKinds';
import { LoopWatch } from './items/loopWatch';
import { atMost, type Figure } from './report';

/** In milliseconds for each 10 MB, beside what JSON.parse takes. */
const maxBlock = 100;
const [rounds, chunkLength] = [5, 65_536];

/** Measures how long large responses of every kind block n8n. */
export async function measureAnswers({ megabytes }: { megabytes: number }): Promise<Figure[]> {
	// A little less, because some kinds add to it, and more than 10 MB are not read of many.
	const length = Math.round(megabytes * 950_000);
	const figures: Figure[] = [];
	for (const { kind, text, request, ...head } of answerKinds) {
		const bytes = Buffer.from(text(length));
		const share = 10_000_000 / bytes.length;
		const blocks: number[] = [];
		let outcome = '';
		for (let round = 0; round < rounds; round++) {
			globalThis.gc?.();
			const watch = new LoopWatch();
			outcome = await outcomeOf(request(gatewayWith(bytes, head)));
			blocks.push(watch.end() * share);
		}
		const isRead = outcome !== 'not read to its end';
		const floor = isRead ? parseTime(bytes.toString().replace(/^data: /, '')) * share : 0;
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
		const { kind, status } = error.failure;
		if (kind === 'excess') return 'not read to its end';
		return status === 200 ? 'unusable' : `HTTP ${status}`;
	}
}

/** A gateway that gives this response to each request. */
function gatewayWith(
	bytes: Uint8Array,
	{ status = 200, type }: Pick<AnswerKind, 'status' | 'type'>,
): Gateway {
	async function* body() {
		for (let at = 0; at < bytes.length; at += chunkLength) {
			await setImmediate();
			yield bytes.subarray(at, at + chunkLength);
		}
	}
	const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
	const http = async () =>
		await Promise.resolve({ status, headers, body: body(), close: () => undefined });
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
