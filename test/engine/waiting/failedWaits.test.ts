import type { INode } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { resumeToEnd, retryExecution, runWorkflow, type WorkflowRun } from '../../harness';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { sampleVideo } from '../../support/data/samples';
import { sha256 } from '../../support/data/sha256';
import { withGateway } from '../../support/http/withGateway';
import { chain, credentialFor, waitForVideo } from '../../support/workflows/workflows';

const reason = 'Human face not found in image 1';

describe.each([
	['held', 'manual'],
	['parked', 'trigger'],
] as const)('two %s waits, of which one fails', (_, mode) => {
	let gateway: Gateway;
	let video: Uint8Array;
	beforeAll(async () => void (video = await sampleVideo()));
	withGateway(
		{ isTimeSimulated: true, jobSeconds: Infinity },
		(world) => void ({ gateway } = world),
	);

	const items = {
		task: (id: string) => ({ output: { task_id: id, task_status: 'PENDING' } }),
		video: (id: string) => ({ id, status: 'queued' }),
	};
	const orders = [
		{ kind: 'task', failing: 0 },
		{ kind: 'task', failing: 1 },
		{ kind: 'video', failing: 0 },
		{ kind: 'video', failing: 1 },
	] as const;

	/** Two jobs that have ended before the wait: one failed, the other one finished. */
	const endedJobs = ({ kind, failing }: (typeof orders)[number]) => {
		const jobs = [0, 1].map((index) => {
			const job = earlierJob(gateway, kind, index === failing ? undefined : video);
			if (index === failing) gateway.jobs.fail(job.id, { message: reason });
			return job.id;
		});
		return { jobs, input: jobs.map((id) => ({ json: items[kind](id) })) };
	};
	const wait = async (
		{ input }: ReturnType<typeof endedJobs>,
		settings: Partial<INode> = {},
	): Promise<WorkflowRun> => {
		const credentials = credentialFor(gateway);
		const workflow = chain(waitForVideo({}, settings));
		return await resumeToEnd(await runWorkflow(workflow, { credentials, input, mode }));
	};
	const downloads = () => gateway.requests.filter(({ route }) => route === 'download');

	it.each(orders)(
		'fetches no file for a node that fails, nor in its Retries, and says how to get the finished video: $kind, item $failing fails',
		async (order) => {
			const ended = endedJobs(order);
			let run = await wait(ended);
			for (let retry = 0; retry < 3; retry++) {
				const { message, description } = run.errorOf('Wait for Video') ?? {};
				expect(message).toContain(reason);
				for (const id of ended.jobs) expect(`${message} ${description}`).toContain(id);
				expect(downloads().length).toBe(0);
				expect(description).toMatch(/On Error/);
				expect(description).toMatch(/Continue/);
				run = await resumeToEnd(await retryExecution(run));
			}
		},
	);

	it.each(orders)(
		'delivers the finished video when the node continues on error: $kind, item $failing fails',
		async (order) => {
			const result = await wait(endedJobs(order), { onError: 'continueRegularOutput' });
			const outputs = result.items('Wait for Video', { run: -1 });
			expect(outputs.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
			expect(outputs[order.failing].json.error).toContain(reason);
			expect(sha256(await result.binary(outputs[1 - order.failing]))).toBe(sha256(video));
		},
	);
});
