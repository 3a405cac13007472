import type { StructuredChunk } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { sampleVideo } from '../../support/data/samples';
import { chain, createVideo, credentialFor, waitForVideo } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

describe('Wait for Video in a workflow that streams', () => {
	let gateway: Gateway;
	let video: Uint8Array;

	beforeAll(async () => (video = await sampleVideo()));
	withGateway(
		{ isTimeSimulated: true, jobSeconds: Infinity },
		(world) => void ({ gateway } = world),
	);

	/** What Wait for Video streams, and when, in milliseconds since the video was ordered. */
	async function chunksOf() {
		gateway.once('job', ({ id }) => {
			setTimeout(() => gateway.jobs.start(id), 1500);
			setTimeout(() => gateway.jobs.complete(id, video), 7000);
		});
		const chunks: Array<StructuredChunk & { after: number }> = [];
		const wait = waitForVideo({ download: false, options: { pollIntervalSeconds: 3 } });
		await runWorkflow(chain(createVideo(), wait), {
			credentials: credentialFor(gateway),
			onChunk(chunk) {
				if (chunk.metadata.nodeName !== 'Wait for Video') return;
				chunks.push({ ...chunk, after: Date.now() - gateway.ledger[0].at });
			},
		});
		return chunks;
	}

	it('streams a line at once, and whenever the status of the job changes', async () => {
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

	it('shows the status that a service gives as text, and not as Markdown', async () => {
		const status = '![i](https://evil.example/a.png) <img> **b**';
		gateway.once('job', ({ id }) => {
			const body = JSON.stringify({ id, status });
			gateway.fault({ route: 'video', action: 'answer', body });
		});
		const [, line] = await chunksOf();
		expect(line.content?.replace(/\\(.)/g, '$1')).toContain('![i](https://evil.example/a.png)');
		expect(line.content?.replace(/\\./g, '')).not.toMatch(/[![\]()<>*]/);
	});
});
