/** Runs in its own process, whose memory is bounded. */
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Gateway } from '../../nodes/shared/service/client/gateway';
import { GatewayError } from '../../nodes/shared/service/errors/gatewayError';
import { downloadImage } from '../../nodes/shared/service/images/files';
import { isObject, valueAt } from '../../nodes/shared/service/json';
import { maxImagesBytes } from '../../nodes/shared/service/protocol/bounds';
import { clock } from '../../nodes/shared/n8n/client/httpClient';
import { axiosHttp } from '../../test/support/http/axiosHttp';
import { publicUrl } from '../../test/support/http/publicNames';
import { requests } from '../answerKinds';
import { LoopWatch } from '../items/loopWatch';
import { withProcess, type Script } from '../process';
import { atMost, none, type Figure } from '../report';
import { planOf } from './plan';
import type { serve as serveStrangers } from './service';
import type { Settings } from '.';

/** In milliseconds and megabytes. */
const [maxBlock, maxGrowth] = [1_000, 600];
/** In milliseconds for one stranger; the honest service shares its process with them, and may have to wait. */
const [patience, honestPatience] = [6_000, 60_000];
const key = 'sk-0123456789abcdef';

/** Asks strangers who answer at random, many side by side, and an honest service meanwhile. */
export async function serve(settings: Settings): Promise<{ figures: Figure[] }> {
	const script: Script<typeof serveStrangers> = { file: path.join(__dirname, 'service.ts') };
	const figures = await withProcess(script, [], async ({ url, askedInside }) => {
		const { seconds, parallel } = settings;
		const outcomes = new Map<string, number>();
		const asked = new Set<string>();
		const http = axiosHttp({ key });
		const gatewayTo = (name: string, milliseconds = patience) => {
			// Under a public name: what it links to must not lead to this machine.
			const baseUrl = `${publicUrl(url, 'gateway')}/${name}`;
			const connection = { key, baseUrl, asyncHeaderName: 'X-Gateway-Async' };
			const signal = AbortSignal.timeout(milliseconds);
			const send: typeof http = async (request) => {
				asked.add(new URL(request.url).host);
				return await http(request);
			};
			return new Gateway(connection, { http: send, clock, random: Math.random, signal });
		};
		const endsAt = Date.now() + seconds * 1000;
		let next = 0;
		const askStrangers = async () => {
			while (Date.now() < endsAt) {
				const seed = `${settings.seed}-${next++}`;
				const outcome = await outcomeOf(ask(gatewayTo(seed), seed));
				outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
			}
		};
		let refused = 0;
		const askHonest = async () => {
			while (Date.now() < endsAt) {
				const outcome = await outcomeOf(requests.models(gatewayTo('honest', honestPatience)));
				if (outcome !== 'used') refused++;
				await setTimeout(500);
			}
		};
		await outcomeOf(requests.models(gatewayTo('honest', honestPatience)));
		const memory = new PeakMemory();
		const loop = new LoopWatch();
		await Promise.all([askHonest(), ...Array.from({ length: parallel }, askStrangers)]);
		const block = loop.end();
		const growth = memory.end();
		const all = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
		return [
			atMost('the longest time in which the event loop stood still', block, maxBlock, {
				unit: 'ms',
			}),
			atMost('the growth of the memory', growth, maxGrowth, { unit: 'MB' }),
			none('requests to an honest service that failed meanwhile', refused),
			{ figure: 'strangers that were asked', value: all.toLocaleString('en') },
			...[...outcomes].sort().map(([outcome, count]) => ({
				figure: `  ended with: ${outcome}`,
				value: count.toLocaleString('en'),
			})),
			{ figure: 'addresses that were asked', value: [...asked].join(', ') },
			none('requests to a server inside the network, to which links lead', await askedInside()),
		];
	});
	return { figures };
}

/** Asks one stranger, and downloads the first file to which its answer links. */
async function ask(gateway: Gateway, seed: string): Promise<void> {
	const { request } = planOf(seed);
	const { baseUrl } = gateway.connection;
	const answer =
		request === 'file' ? { link: `${baseUrl}/a.png` } : await requests[request](gateway);
	const links = ['images.0.url', 'link', 'source.url'].map((place) => valueAt(answer, place));
	const link = links.find((value) => typeof value === 'string');
	const shared = { max: maxImagesBytes, left: maxImagesBytes };
	const image = { url: String(link), shared, known: {} };
	if (link !== undefined) await downloadImage(gateway, image, async (bytes) => await read(bytes));
}

/** Reads a file without keeping it, as a disk would. */
async function read(bytes: AsyncIterable<Uint8Array>): Promise<number> {
	let length = 0;
	for await (const chunk of bytes) length += chunk.length;
	return length;
}

async function outcomeOf(answer: Promise<unknown>): Promise<string> {
	try {
		await answer;
		return 'used';
	} catch (error) {
		if (!(error instanceof GatewayError)) {
			// The patience with this stranger has run out.
			if (isObject(error) && error.name === 'TimeoutError') return 'given up';
			throw error;
		}
		const { kind, isStopped, reach } = error.failure;
		if (isStopped) return 'given up';
		return kind === 'excess' ? 'not read to its end' : kind === 'cut' ? 'broken off' : reach;
	}
}

/** The largest memory of this process, in megabytes above that at the beginning. */
class PeakMemory {
	private readonly before = process.memoryUsage.rss();
	private peak = this.before;
	private readonly timer = setInterval(() => this.sample(), 20);

	end(): number {
		this.sample();
		clearInterval(this.timer);
		return (this.peak - this.before) / 1e6;
	}

	private sample(): void {
		this.peak = Math.max(this.peak, process.memoryUsage.rss());
	}
}
