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
	async function chunksOf(end: (id: string) => void) {
		gateway.once('job', ({ id }) => {
			setTimeout(() => gateway.jobs.start(id), 1500);
			setTimeout(() => end(id), 7000);
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
		const chunks = await chunksOf((id) => gateway.jobs.complete(id, video));
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

	it.each(['begin', 'item', 'end'])(
		'waits to the end although n8n cannot pass a line on, at %s',
		async (type) => {
			gateway.once(
				'job',
				({ id }) => void setTimeout(() => gateway.jobs.complete(id, video), 7000),
			);
			const result = await runWorkflow(chain(createVideo(), waitForVideo({ download: false })), {
				credentials: credentialFor(gateway),
				onChunk(chunk) {
					if (chunk.type === type) throw new Error('Connection is closed.');
				},
			});
			expect(result.items('Wait for Video')).toMatchObject([{ json: { status: 'completed' } }]);
		},
	);
});
