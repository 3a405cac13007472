import type { Job } from '../../gateway';
import type { WorkflowJson, WorkflowRun } from '../harness';
import { resumeExecution, resumeToEnd } from '../harness';
import { sha256 } from './data/sha256';
import { withTitle } from './data/samples';
import { mp4Of } from './files/boxes';
import { earlierJob } from './workflows/earlierJobs';
import { chain, type NodeSettings, waitForVideo } from './workflows/workflows';
import { pass, run, world, type Fields } from './orders';

type Kind = 'task' | 'video';
export const kinds: Kind[] = ['task', 'video'];

/** A video whose bytes no other one has. */
export const newVideo = (title = 'A video'): Buffer => Buffer.from(withTitle(mp4Of(20_000), title));

/** A job that an earlier execution ordered. It runs until the test ends it. */
export function runningJob(kind: Kind = 'task'): Job {
	const job = earlierJob(world.gateway, kind);
	world.gateway.jobs.start(job.id);
	return job;
}

/** A job of an earlier execution that has made this video. */
export const finishedJob = (kind: Kind, video: Uint8Array): Job =>
	earlierJob(world.gateway, kind, video);

/** Ends the job with this video after some simulated seconds. */
export const finishAfter = ({ id }: Job, seconds: number, video: Uint8Array = newVideo()) =>
	void setTimeout(() => world.gateway.jobs.complete(id, video), seconds * 1000);

/** Items as a Create of this kind of job gives them. */
export const itemsOf = (jobs: Array<Pick<Job, 'id' | 'order'>>) =>
	jobs.map(({ id, order }) => ({
		json: order.kind === 'task' ? { output: { task_id: id } } : { id, status: 'queued' },
	}));

/** Wait for Video alone in a workflow. */
export const waiting = (parameters: Fields = {}, settings: NodeSettings = {}): WorkflowJson =>
	chain(waitForVideo(parameters, settings));

/** Presses Stop when this happens. @returns also when that was */
export function stopAt(event: () => Promise<unknown>) {
	const pressed = { at: NaN };
	const onStart = (stop: () => void) =>
		void event().then(() => {
			pressed.at = Date.now();
			stop();
		});
	return { onStart, pressed };
}

/** The workflow with a Timeout Workflow of this number of seconds. */
export const timeLimited = (workflow: WorkflowJson, executionTimeout: number): WorkflowJson => ({
	...workflow,
	settings: { executionOrder: 'v1', executionTimeout },
});

/** Waits for these jobs to the end, and keeps running meanwhile. */
export const hold = async (
	jobs: Array<Pick<Job, 'id' | 'order'>>,
	options: Fields = {},
	settings: NodeSettings = {},
): Promise<WorkflowRun> =>
	await resumeToEnd(
		await run(waiting({ options }, settings), [], { input: itemsOf(jobs), mode: 'manual' }),
	);

/** Resumes a parked execution once, when it is due. */
export async function resumeWhenDue(parked: WorkflowRun): Promise<WorkflowRun> {
	await pass(Math.max(0, Number(parked.waitTill) - Date.now()) / 1000);
	return await resumeExecution(parked);
}

export const results = (execution: WorkflowRun, output = 0) =>
	execution.items('Wait for Video', { output, run: -1 });

/** The hash of each file in the output. */
export const filesOf = async (execution: WorkflowRun): Promise<string[]> =>
	await Promise.all(results(execution).map(async (item) => sha256(await execution.binary(item))));

export const pollsOf = ({ id }: Pick<Job, 'id'>) =>
	world.gateway.requests.filter(
		({ route, jobId }) => jobId === id && (route === 'task' || route === 'video'),
	);

export const downloads = () => world.gateway.requests.filter(({ route }) => route === 'download');
