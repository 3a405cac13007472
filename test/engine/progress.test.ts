import type { StructuredChunk } from 'n8n-workflow';
import { startGateway, type Gateway } from '../gateway';
import { runWorkflow } from '../harness';
import { sampleVideo } from './support/samples';
import { byId, chain, credentialFor, modelGateway, waitForVideo } from './support/workflows';

describe('Wait for Video in a workflow that streams', () => {
	let gateway: Gateway;
	let video: Uint8Array;

	beforeAll(async () => (video = await sampleVideo()));
	beforeEach(async () => {
		gateway = await startGateway({ jobSeconds: 7, render: async () => video });
	});
	afterEach(async () => await gateway.close());

	const create = (prompt: string) =>
		modelGateway({ resource: 'video', operation: 'create', model: byId('vid-3.1'), prompt });

	/** What came from the waiting node, and when, in milliseconds since the video was ordered. */
	async function chunksOf(prompt = 'A boat') {
		const chunks: Array<StructuredChunk & { after: number }> = [];
		const wait = waitForVideo({ pollIntervalSeconds: 3 }, { parameters: { download: false } });
		await runWorkflow(chain(create(prompt), wait), {
			credentials: credentialFor(gateway),
			onChunk(chunk) {
				if (chunk.metadata.nodeName !== 'Wait') return;
				chunks.push({ ...chunk, after: Date.now() - gateway.ledger[0].at });
			},
		});
		return chunks;
	}

	it('streams a line whenever its state changes, and at once', async () => {
		const chunks = await chunksOf();
		const { job } = gateway.ledger[0];
		expect(chunks.map(({ type, content }) => `${type}${content ? ` ${content}` : ''}`)).toEqual([
			'begin',
			`item Video job ${job}: queued\n\n`,
			`item Video job ${job}: processing\n\n`,
			`item Video job ${job}: completed\n\n`,
			'end',
		]);
		expect(chunks[1].after).toBeLessThan(2_000);
		expect(gateway.requests.filter(({ route }) => route === 'video')).toHaveLength(4);
	});

	it('ends its lines when the job fails', async () => {
		const [last, end, ...rest] = (await chunksOf('[fail]')).slice(-3);
		expect(last.content).toMatch(/: failed\n\n$/);
		expect(end.type).toBe('end');
		// n8n's own, of the node that failed.
		expect(rest.map(({ type }) => type)).toEqual(['error']);
	});
});
