import type { IDataObject } from 'n8n-workflow';
import { resumeToEnd, runWorkflow, SimulatedTime, type RunOptions } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import {
	answer,
	json,
	page,
	reset,
	startServer,
	type Reply,
} from '../../support/http/scriptedServer';
import { chain, credentialFor, waitForVideo } from '../../support/workflows/workflows';

describe('the kind of a job', () => {
	let time: SimulatedTime;
	let began: number;
	beforeEach(() => {
		time = new SimulatedTime();
		began = Date.now();
	});
	afterEach(async () => await time.end());

	/** Waits for the job `job_1` at a service that gives these responses to the polls at its two endpoints. */
	const waitFor = async (
		replies: { task: Reply; video: Reply },
		item: IDataObject = {},
		{ mode }: Pick<RunOptions, 'mode'> = {},
	) => {
		const polls: Array<[path: string, at: number]> = [];
		const server = await startServer((response, request) => {
			const { path } = request;
			if (path === '/file') return answer(200, mp4Of(100))(response, request);
			if (path.endsWith('/content')) return json({ url: '/file' })(response, request);
			polls.push([path, Date.now() - began]);
			replies[path.startsWith('/v1/tasks/') ? 'task' : 'video'](response, request);
		});
		const jobId = '={{ $json.given ?? $json.id }}';
		const workflow = chain(
			waitForVideo({ jobId, options: { timeoutMinutes: 3 } }, { onError: 'continueRegularOutput' }),
		);
		const result = await resumeToEnd(
			await runWorkflow(workflow, {
				...{ mode, input: [{ json: item }] },
				credentials: credentialFor({ url: server.url, apiKey: 'demo-key' }),
			}),
		);
		return { output: result.items('Wait for Video')[0], polls };
	};
	const typed = { given: 'job_1' };
	const taskDone = json({ task_id: 'job_1', status: 'completed', result_url: '/file' });
	const videoDone = json({ id: 'job_1', status: 'completed' });
	const refuse = (status: number, headers = {}) =>
		json({ error: { message: `status ${status}` } }, status, headers);

	describe.each<[string, Reply]>([
		['a 500 of the service', refuse(500)],
		["a proxy's page with 502", page(502)],
		['a web page', page(200)],
		['a rate limit', refuse(429)],
		['a refusal', refuse(401)],
		['a broken connection', reset],
		['a status of its own', json({ status: 'ok' })],
	])('a job whose wrong endpoint returns %s', (_, wrong) => {
		it.each(['manual', 'trigger'] as const)(
			'finds out the kind of a job in a %s execution, whatever the wrong endpoint returns',
			async (mode) => {
				for (const kind of ['task', 'video'] as const) {
					const replies = { task: taskDone, video: videoDone };
					const other = kind === 'task' ? 'video' : 'task';
					const { output } = await waitFor({ ...replies, [other]: wrong }, typed, { mode });
					expect(output).toMatchObject({
						json: { job_id: 'job_1', status: 'completed' },
						binary: {},
					});
				}
			},
		);
	});

	it.each([
		['a table row without a status, whose job is a task', { id: 'job_1' }, 'task'],
		[
			'a table row with a status, whose job is a video job',
			{ id: 'job_1', status: 'to do' },
			'video',
		],
	] as const)('finds out the kind of a job by its ID in %s', async (_, item, kind) => {
		const replies = { task: refuse(500), video: refuse(500) };
		const own = kind === 'task' ? { task: taskDone } : { video: videoDone };
		const { output, polls } = await waitFor({ ...replies, ...own }, item);
		expect(output).toMatchObject({ json: { job_id: 'job_1' }, binary: {} });
		expect(polls[0][0]).toBe('/v1/videos/job_1');
	});

	it('polls the other endpoint only once Retry-After has passed', async () => {
		const busy = refuse(429, { 'retry-after': '20' });
		for (const mode of ['manual', 'trigger'] as const) {
			const { polls, output } = await waitFor({ task: busy, video: videoDone }, typed, { mode });
			expect(output).toMatchObject({ binary: {} });
			const [[, first], [path, second]] = polls;
			expect(path).toBe('/v1/videos/job_1');
			expect(second - first).toBeGreaterThanOrEqual(20_000);
		}
	});
});
