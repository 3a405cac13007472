import { type RunOptions, type WorkflowRun } from '../../harness';
import { chain, core, createVideo } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

describe('job IDs in the highlighted data of an execution', () => {
	const { gateway, runWorkflow } = withGateway({ jobSeconds: Infinity });

	/** Orders videos after a node whose expression sets highlighted data of the user's own. */
	const order = async (videos: number, own = '={{ {} }}', options: RunOptions = {}) =>
		await runWorkflow(
			chain(
				core('Own', 'set', { mode: 'raw', jsonOutput: own }, 3.4),
				// The first order has its response before the second is placed.
				createVideo({ options: { parallelRequests: 1 } }),
			),
			{ input: Array.from({ length: videos }, () => ({ json: {} })), ...options },
		);
	const dataOf = ({ data }: WorkflowRun) => data.resultData.metadata ?? {};
	const jobs = () => gateway.ledger.map(({ job }) => String(job));

	it.each(['manual', 'trigger'] as const)(
		'adds the IDs of all ordered jobs to the highlighted data: %s',
		async (mode) => {
			const data = dataOf(await order(2, undefined, { mode }));
			expect(Object.keys(data)).toEqual(['video_jobs']);
			expect(data.video_jobs.split(', ').sort()).toEqual(jobs().sort());
		},
	);

	it('fills no more than three fields of 255 characters with job IDs', async () => {
		const data = dataOf(await order(40));
		expect(Object.keys(data)).toEqual(['video_jobs', 'video_jobs_2', 'video_jobs_3']);
		for (const value of Object.values(data)) {
			expect(value.length).toBeLessThanOrEqual(255);
			for (const id of value.split(', ')) expect(jobs()).toContain(id);
		}
	});

	it('adds job IDs after the value that the user stored in the same field', async () => {
		const own = "={{ ($execution.customData.set('video_jobs', 'for Ann'), {}) }}";
		const data = dataOf(await order(1, own));
		expect(data).toEqual({ video_jobs: `for Ann, ${jobs()[0]}` });
	});

	it('adds the IDs of accepted jobs to the highlighted data after Stop', async () => {
		let stop = () => {};
		let arrived = 0;
		gateway.fault({
			route: 'videoCreate',
			action: 'stall',
			skip: 1,
			when() {
				if (++arrived === 2) stop();
				return true;
			},
		});
		const stopped = await order(2, undefined, { onStart: (cancel) => void (stop = cancel) });
		expect(stopped.status).toBe('canceled');
		expect(dataOf(stopped).video_jobs).toBe(jobs()[0]);
	});
});
