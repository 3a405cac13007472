/** Runs in its own process, whose memory is not measured: the gateway and its records. */
import { startGateway } from '../../gateway';
import { Renderer } from '../../gateway/rendering';
import { randomFrom } from '../../gateway/random';
import { picture } from '../../test/support/data/samples';
import { sha256 } from '../../test/support/data/sha256';
import type { Remote } from '../process';
import { drawFaults } from './faults';
import { orderOf, sampleOf } from './orders';

export type Service = Remote<Awaited<ReturnType<typeof serve>>>;

/** The records of the service. */
export interface Books {
	requests: number;
	faults: number;
	charges: Array<{ job: string; number: number }>;
	/** Jobs whose create got a good response, with the job ID. */
	responded: string[];
}

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

/** Starts the gateway. @param share of the requests that meet a fault */
export async function serve(seed: string, share: number) {
	const samples = await renderSamples();
	const gateway = await startGateway({
		jobSeconds: ({ order }) => orderOf(order.prompt).seconds,
		render: async ({ caption }) => sampleOf(samples, orderOf(caption).number),
	});
	const drawn = drawFaults(gateway, share, randomFrom(`faults ${seed}`));

	const creates = new Set(['referenceVideoCreate', 'videoCreate']);
	const books = (): Books => ({
		requests: gateway.requests.length,
		faults: drawn.hits,
		charges: gateway.ledger.map(({ job = '' }) => {
			const prompt = gateway.jobs.get(job)?.order.prompt ?? '';
			return { job, number: orderOf(prompt).number };
		}),
		responded: gateway.requests
			.filter(({ route = '', status }) => creates.has(route) && status === 200)
			.filter((request) => drawn.isServed(request))
			.map(({ jobId = '' }) => jobId),
	});
	const storyOf = (id: string): string[] =>
		gateway.requests
			.filter(({ jobId }) => jobId === id)
			.map((request) => {
				const { at, route, status, headers } = request;
				const facts = { status, range: headers.range, fault: drawn.of(request) };
				return `${new Date(at).toISOString()} ${route} ${JSON.stringify(facts)}`;
			});
	return {
		url: gateway.url,
		apiKey: gateway.apiKey,
		books,
		/** The requests about a job, one a line. */
		storyOf,
		/** The reference image of all orders. */
		portrait: gateway.addMedia('portrait.png', picture('teal'), 'image/png'),
		/** Hashes of the videos, each of which is made for many orders. */
		hashes: samples.map(sha256),
	};
}
