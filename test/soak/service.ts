/** A process of its own: the gateway, and how it keeps its books. The memory measured is not its. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportTo } from '../bench/helperProcess';
import { picture } from '../engine/support/samples';
import { startGateway } from '../gateway';
import { Renderer } from '../gateway/rendering';
import { randomFrom } from '../gateway/rendering/random';
import { tryLuck } from './faults';
import { orderOf, sampleOf, sha256 } from './orders';

export interface Service {
	url: string;
	apiKey: string;
	/** Answers with the {@link Books}, and under the id of a job with the requests about it, one a line. */
	booksUrl: string;
	/** To order with. */
	portrait: string;
	/** Of the videos, each of which is made for many orders. */
	hashes: string[];
}

/** What the service knows. */
export interface Books {
	requests: number;
	faults: number;
	charges: Array<{ job: string; number: number }>;
	/** Jobs whose creation was answered well: their ids are known to whoever asked. */
	told: string[];
}

const host = '127.0.0.1';
const sampleCount = 12;

async function renderSamples(): Promise<Uint8Array[]> {
	const renderer = new Renderer();
	try {
		return await Promise.all(
			Array.from({ length: sampleCount }, async (_, index) => {
				const size = { width: 320 + 32 * (index % 4), height: 180, seconds: 1 + (index % 5) };
				const caption = `Sample ${index}`;
				return await renderer.render({ ...size, caption, watermark: false, media: [] });
			}),
		);
	} finally {
		await renderer.close();
	}
}

async function serve(seed: string, share: number): Promise<Service> {
	const samples = await renderSamples();
	const gateway = await startGateway({
		jobSeconds: ({ order }) => orderOf(order.prompt).seconds,
		render: async ({ caption }) => sampleOf(samples, orderOf(caption).number),
	});
	const luck = tryLuck(gateway, share, randomFrom(`faults ${seed}`));

	const creates = new Set(['referenceVideoCreate', 'videoCreate']);
	const books = (): Books => ({
		requests: gateway.requests.length,
		faults: luck.hits,
		charges: gateway.ledger.map(({ job = '' }) => {
			const prompt = gateway.jobs.get(job)?.order.prompt ?? '';
			return { job, number: orderOf(prompt).number };
		}),
		told: gateway.requests
			.filter(({ route = '', status }) => creates.has(route) && status === 200)
			.filter((request) => luck.isServed(request))
			.map(({ jobId = '' }) => jobId),
	});
	const story = (id: string): string[] =>
		gateway.requests
			.filter(({ jobId }) => jobId === id)
			.map((request) => {
				const { at, route, status, headers } = request;
				const facts = { status, range: headers.range, fault: luck.of(request) };
				return `${new Date(at).toISOString()} ${route} ${JSON.stringify(facts)}`;
			});
	const desk = createServer(({ url = '/' }, response) => {
		const asked = url === '/' ? books() : story(url.slice(1));
		response.writeHead(200, { connection: 'close' }).end(JSON.stringify(asked));
	});
	await once(desk.listen(0, host), 'listening');

	return {
		...{ url: gateway.url, apiKey: gateway.apiKey },
		booksUrl: `http://${host}:${(desk.address() as AddressInfo).port}`,
		portrait: gateway.addMedia('portrait.png', picture('teal'), 'image/png'),
		hashes: samples.map(sha256),
	};
}

const [seed, share] = process.argv.slice(2);
reportTo(async () => await serve(seed, Number(share)));
