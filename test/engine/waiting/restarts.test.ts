import type { INodeExecutionData } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { retryExecution, type RunOptions, type WorkflowRun } from '../../harness';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { resume, startWaits } from '../../support/workflows/parkedWaits';
import { setProcess } from '../../support/time/processAge';
import { sampleVideo } from '../../support/data/samples';
import { answer, startServer } from '../../support/http/scriptedServer';
import { withGateway } from '../../support/http/withGateway';
import { chain, core, waitForVideo } from '../../support/workflows/workflows';

let gateway: Gateway;
let video: Uint8Array;

beforeAll(async () => void (video = await sampleVideo()));
withGateway(
	{ isTimeSimulated: true, jobSeconds: 0, render: async () => video },
	(world) => void ({ gateway } = world),
);
afterEach(() => jest.restoreAllMocks());

const createJobs = (count: number) => earlierTasks(gateway, count);
const workflow = chain(waitForVideo(), core('Done', 'noOp'));
const start = async (jobs: Array<{ id: string }>, options?: Partial<RunOptions>) =>
	await startWaits(gateway, workflow, jobs, options);
const idsOf = (items: INodeExecutionData[]) => items.map(({ json }) => json.task_id);
const requestsOf = (id: string, route: string) =>
	gateway.requests.filter((request) => request.route === route && request.jobId === id);

describe('a parked Wait for Video after a restart of n8n', () => {
	/** When the last process of n8n started. Each process finds out for itself whether it has recovered. */
	let lastStart = 1_000;

	/** How many milliseconds a pass takes in a process of n8n of this age. */
	const durationOfPass = async (
		age: number,
		{ isRestarted = true, ...options }: Partial<RunOptions> & { isRestarted?: boolean } = {},
	) => {
		const [job] = createJobs(1);
		setProcess(++lastStart, 100_000);
		const run = await start([job], options);
		gateway.jobs.complete(job.id, video);
		setProcess(isRestarted ? ++lastStart : lastStart, age);
		const begun = Date.now();
		expect(idsOf((await resume(run)).items('Done'))).toEqual([job.id]);
		return Date.now() - begun;
	};

	/** An n8n that says how ready it is: with each of these responses once, and then with the last one. */
	const startReadiness = async (responses: Array<[number, string]>) => {
		const replies = responses.map(([status, text]) => answer(status, text));
		const server = await startServer((response, request) => {
			if (request.path !== '/healthz/readiness') return answer(404, '')(response, request);
			(replies.length > 1 ? replies.shift() : replies[0])?.(response, request);
		});
		return `${server.url}/rest`;
	};
	const starting: [number, string] = [503, '{"status":"error"}'];
	const ready: [number, string] = [200, '{"status":"ok"}'];

	it('waits until a restarted n8n has run for a minute, where n8n cannot reach itself', async () => {
		expect(await durationOfPass(58_000)).toBe(2_000);
	});

	it('waits only until a restarted n8n says that it is ready', async () => {
		const restApiUrl = await startReadiness([starting, starting, ready]);
		expect(await durationOfPass(10_000, { restApiUrl })).toBe(1_000);
	});

	it.each<[string, Array<[number, string]>]>([
		['n8n 1, which says so from the start', [ready]],
		['a proxy before n8n', [[503, '<h1>Service Unavailable</h1>'], ready]],
	])('does not rely on the readiness of %s', async (_, responses) => {
		const restApiUrl = await startReadiness(responses);
		expect(await durationOfPass(58_000, { restApiUrl })).toBe(2_000);
	});

	it.each([
		['n8n restarted a minute ago', 61_000, {}],
		['n8n has not restarted since it parked', 30_000, { isRestarted: false }],
		['a worker of queue mode does, which has recovered before', 1_000, { inWorker: true }],
	])('resumes without a pause when %s', async (_, age, options) => {
		expect(await durationOfPass(age, options)).toBe(0);
	});

	/** Parks a wait, and restarts n8n when its job is finished. */
	const parkAndRestart = async () => {
		const [job] = createJobs(1);
		setProcess(++lastStart, 100_000);
		const parked = await start([job]);
		setProcess(++lastStart, 61_000);
		return { job, parked };
	};
	const expectNothingToDo = (
		retried: WorkflowRun | undefined,
		{ job, execution }: { job: { id: string }; execution: string },
	) => {
		expect(retried?.data.resultData.runData.Done).toBeUndefined();
		expect(retried?.errorOf('Wait for Video')).toMatchObject({
			message: `Execution ${execution} has resumed and goes on with Video job ${job.id}`,
			description: expect.stringContaining('this Retry has nothing to do'),
		});
	};

	it('leaves the videos to the first execution when Retry is pressed while that resumes', async () => {
		const { job, parked } = await parkAndRestart();
		gateway.jobs.complete(job.id, video);
		let retried: WorkflowRun | undefined;
		const pressRetry = async () => void (retried = await retryExecution(parked));
		let pressed: Promise<void> | undefined;
		const until = new Promise<void>((resolve) => {
			gateway.fault({
				...{ route: 'download', action: 'stall', until: Promise.resolve() },
				when: () => {
					pressed ??= pressRetry().then(resolve);
					return true;
				},
			});
		});
		const run = await resume(parked);
		await until;
		expect(idsOf(run.items('Done'))).toEqual([job.id]);
		expectNothingToDo(retried, { job, execution: parked.executionId });
		expect(requestsOf(job.id, 'download')).toHaveLength(1);
	});

	it('delivers with Retry a minute later, in case n8n has lost what the first execution stored', async () => {
		const { job, parked } = await parkAndRestart();
		gateway.jobs.complete(job.id, video);
		await resume(parked);
		jest.setSystemTime(Date.now() + 61_000);
		expect(idsOf((await retryExecution(parked)).items('Done'))).toEqual([job.id]);
	});
});
