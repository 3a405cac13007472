import type { INodeExecutionData } from 'n8n-workflow';
import { replaceParking, resumeExecution, runSteps, type WorkflowRun } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { withGateway } from '../../support/http/withGateway';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { hintsOf, itemsFor, resume, startWaits } from '../../support/workflows/parkedWaits';
import {
	chain,
	core,
	createVideo,
	credentialFor,
	waitForVideo,
} from '../../support/workflows/workflows';

// A wait in an engine that lacks a fact on which parking rests: CONTRIBUTING, "When n8n's engine changes".

const video = mp4Of(1_000);
const { gateway } = withGateway({
	isTimeSimulated: true,
	jobSeconds: 0,
	render: async () => video,
});

const done = core('Done', 'noOp');
const workflow = chain(waitForVideo(), done);
const hint =
	'The node kept running while it waited, because this version of n8n cannot park it. If n8n stops, press Retry: nothing is ordered again.';

/** Two jobs that finish in a minute. */
const runningJobs = () => {
	const jobs = earlierTasks(gateway, 2);
	for (const { id } of jobs) setTimeout(() => gateway.jobs.complete(id, video), 60_000);
	return jobs;
};
const idsOf = (items: INodeExecutionData[]) => items.map(({ json }) => json.job_id);
const expectVideos = (run: WorkflowRun, jobs: Array<{ id: string }>) => {
	expect(run.status).toBe('success');
	const items = run.items('Done');
	expect(idsOf(items)).toEqual(jobs.map(({ id }) => id));
	expect(items.map(({ binary }) => binary?.data.bytes)).toEqual(jobs.map(() => video.length));
	expect(run.data.resultData.runData['Wait for Video']).toHaveLength(1);
	expect(hintsOf(run)).toEqual([hint]);
};

interface Parking {
	runExecutionData: { waitTill?: Date };
}
const failing = async () => await Promise.reject(new Error('This execution cannot wait'));
/** As n8n's own, when n8n does not know the execution. */
async function failingLate(this: Parking, time: Date): Promise<void> {
	this.runExecutionData.waitTill = time;
	await failing();
}

describe('Wait for Video in an engine that cannot park an execution', () => {
	let restore = () => {};
	afterEach(() => restore());

	it.each<[string, unknown]>([
		['is missing', undefined],
		['fails', failing],
		['fails after it has set the time', failingLate],
		['does nothing', async () => {}],
	])('keeps running, and says so, when putExecutionToWait %s', async (_, replacement) => {
		restore = replaceParking(replacement);
		const jobs = runningJobs();
		expectVideos(await startWaits(gateway, workflow, jobs), jobs);
	});

	it('leaves it to a later node to park the execution', async () => {
		const times: Date[] = [];
		restore = replaceParking(async function (this: Parking, time: Date) {
			times.push(time);
			if (times.length > 1) this.runExecutionData.waitTill = time;
		});
		const pause = core('Pause', 'wait', { amount: 2, unit: 'minutes' }, 1.1);
		const run = await startWaits(gateway, chain(waitForVideo(), pause, done), runningJobs());
		expect(run.data.resultData.lastNodeExecuted).toBe('Pause');
		const ended = await resume(run);
		expect(ended.items('Done').map(({ binary }) => binary?.data.bytes)).toEqual([
			video.length,
			video.length,
		]);
	});
});

describe('a parked Wait for Video that comes back as a fresh run of the node', () => {
	/** Resumes the execution without anything that the nodes have stored in it. */
	const resumeAfresh = async (run: WorkflowRun) => {
		if (run.data.executionData) run.data.executionData.contextData = {};
		delete run.data.resultData.runData['Wait for Video'];
		return await resumeExecution(run);
	};

	it('keeps running, and says so, instead of parking again and again', async () => {
		const jobs = runningJobs();
		const parked = await startWaits(gateway, workflow, jobs);
		expect(parked.status).toBe('waiting');
		expectVideos(await resumeAfresh(parked), jobs);
	});
});

it.each(['auto', 'park', 'hold'])(
	'keeps running in the next engine of n8n with While Waiting = %s, and orders once',
	async (whileWaiting) => {
		const row = chain(createVideo(), waitForVideo({ whileWaiting }), done);
		const steps = await runSteps(row, {
			credentials: credentialFor(gateway),
			input: itemsFor([{ id: '1' }]),
			mode: 'trigger',
		});
		const ids = steps.get('Create')?.items.map(({ json }) => json.id);
		const items = steps.get('Done')?.items ?? [];
		expect(idsOf(items)).toEqual(ids);
		expect(items.map(({ binary }) => binary?.data.bytes)).toEqual([video.length]);
		expect(steps.get('Wait for Video')?.hints).toEqual([hint]);
		expect(gateway.ledger).toHaveLength(1);
	},
);
