import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { resumeExecution, runWorkflow, type WorkflowJson } from '../../harness';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { eventsOf } from '../../support/workflows/log';
import { hintsOf, resume } from '../../support/workflows/parkedWaits';
import { sampleVideo } from '../../support/data/samples';
import {
	chain,
	core,
	credentialFor,
	modelGateway,
	waitForVideo,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// Several items or nodes that name the same job.

let gateway: Gateway;
let video: Uint8Array;

beforeAll(async () => void (video = await sampleVideo()));
withGateway({ isTimeSimulated: true, jobSeconds: Infinity }, (world) => void ({ gateway } = world));

const createJobs = (count: number) => earlierTasks(gateway, count);
const pollsOf = (id: string) =>
	gateway.requests.filter(({ route, url }) => route !== 'download' && url.includes(id));
const continues = { onError: 'continueRegularOutput' } as const;

describe('a parked wait', () => {
	const done = core('Done', 'noOp');
	const options = {
		timeoutMinutes: '={{ $json.timeout ?? 20 }}',
		pollIntervalSeconds: '={{ $json.interval ?? 10 }}',
	};
	const startWith = async (json: IDataObject[], whileWaiting = 'park') =>
		await runWorkflow(chain(waitForVideo({ options, whileWaiting }, continues), done), {
			credentials: credentialFor(gateway),
			input: json.map((fields) => ({ json: fields })),
			mode: 'trigger',
		});

	it('keeps the timeout of each item with the same job from pass to pass', async () => {
		const [{ id }] = createJobs(1);
		let run = await startWith([
			{ task_id: id, timeout: 0.3 },
			{ task_id: id, timeout: 20 },
		]);
		for (let passes = 0; passes < 4; passes++) run = await resume(run);
		// The last poll of the first item holds back that of the second.
		expect(pollsOf(id)).toHaveLength(5);
		gateway.jobs.complete(id, video);
		run = await resume(run);
		expect(run.status).toBe('success');
		expect(run.items('Done').map(({ json }) => json.error ?? json.job_id)).toEqual([
			expect.stringContaining(`${id} did not finish within 0.3 minutes`),
			id,
		]);
		expect(pollsOf(id)).toHaveLength(6);
	});

	it('keeps the interval of each item with the same job, and parks until the next poll that is due', async () => {
		const [{ id }] = createJobs(1);
		let run = await startWith([
			{ task_id: id, interval: 60 },
			{ task_id: id, interval: 20 },
		]);
		run = await resume(run);
		const nextPolls = run
			.items('Wait for Video')
			.map(({ json }) => Date.parse(String(json.next_poll)));
		expect(nextPolls[0] - nextPolls[1]).toBeGreaterThan(39_000);
		expect((run.waitTill as Date).getTime()).toBe(nextPolls[1]);
		run = await resume(await resume(run));
		expect(pollsOf(id)).toHaveLength(3);
	});

	it('names a shared job once in its hint and in the log', async () => {
		const [{ id }] = createJobs(1);
		const parked = await startWith([{ task_id: id }, { task_id: id }, { id }]);
		const run = await resumeExecution(parked);
		expect(hintsOf(run)).toEqual([`Video job ${id}: submitted, 0 %`]);
		expect(run.items('Wait for Video').map(({ json }) => json.job_id)).toEqual([id, id, id]);
		const events = await eventsOf(run);
		expect(events.map(({ metadata }) => [metadata.event, metadata.jobId])).toEqual([
			['wait parked', id],
			['job progress', id],
		]);
	});
});

describe('Get Status', () => {
	const get = modelGateway({ resource: 'referenceVideo', operation: 'get' }, { name: 'Get' });
	const run = async (workflow: WorkflowJson, ids: string[]) =>
		await runWorkflow(workflow, {
			credentials: credentialFor(gateway),
			input: ids.map((id) => ({ json: { task_id: id } })),
		});

	it('polls a job once for all items that name it, and gives each an output of its own', async () => {
		const [one, other] = createJobs(2).map(({ id }) => id);
		const outputs = (await run(chain(get), [one, other, one, ` ${one} `])).items('Get');
		expect(outputs.map(({ json }) => json.task_id)).toEqual([one, other, one, one]);
		expect(outputs.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 1, 2, 3].map((item) => ({ item })),
		);
		expect([pollsOf(one).length, pollsOf(other).length]).toEqual([1, 1]);
		expect(outputs[2].json).not.toBe(outputs[0].json);
	});

	it('is no reason for Wait for Video to poll the job within three seconds', async () => {
		const [{ id }] = createJobs(1);
		setTimeout(() => gateway.jobs.complete(id, video), 500);
		await run(chain(get, waitForVideo({ whileWaiting: 'hold' })), [id]);
		const [first, second] = pollsOf(id).map(({ at }) => at);
		expect(second - first).toBeGreaterThanOrEqual(3000);
	});
});
