import type { IDataObject } from 'n8n-workflow';
import { limits } from '../../../nodes/shared/gateway/protocol/limits';
import { runWorkflow, SimulatedTime, type RunOptions, type WorkflowJson } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { answer, json, startServer, type Reply } from '../../support/http/scriptedServer';
import {
	chain,
	credentialFor,
	modelGateway,
	waitForVideo,
} from '../../support/workflows/workflows';

const minInterval = limits.minPollSeconds * 1000;

describe('the polls of one job', () => {
	let time: SimulatedTime;
	let began: number;
	beforeEach(() => {
		time = new SimulatedTime();
		began = Date.now();
	});
	afterEach(async () => await time.end());

	/** Starts a scripted gateway. @param reply gives the response to the poll of this number, from 0 */
	const serve = async (reply: (poll: number, kind: 'task' | 'video') => Reply) => {
		const polls: Array<{ path: string; at: number }> = [];
		const server = await startServer((response, request) => {
			const { path } = request;
			if (path === '/file') return answer(200, mp4Of(100))(response, request);
			if (path.endsWith('/content')) return json({ url: '/file' })(response, request);
			polls.push({ path, at: Date.now() - began });
			const kind = path.startsWith('/v1/tasks/') ? 'task' : 'video';
			reply(polls.length - 1, kind)(response, request);
		});
		const run = async (workflow: WorkflowJson, ids: IDataObject[], options: RunOptions = {}) =>
			await runWorkflow(
				{ ...workflow, settings: { saveExecutionProgress: true } },
				{
					credentials: credentialFor({ url: server.url, apiKey: 'demo-key' }),
					...options,
					input: ids.map((item) => ({ json: item })),
				},
			);
		const times = () => polls.map(({ at }) => at);
		const shortestGap = () => Math.min(...times().map((at, i) => at - (times()[i - 1] ?? -1e9)));
		return { run, polls, times, shortestGap };
	};

	const task = { task_id: 'task_1' };

	const getStatus = (kind: 'task' | 'video' = 'task', settings = {}) =>
		modelGateway(
			kind === 'task'
				? { resource: 'referenceVideo', operation: 'get', taskId: '={{ $json.task_id }}' }
				: { resource: 'video', operation: 'get', videoId: '={{ $json.id }}' },
			{ name: 'Get', ...settings },
		);
	const wait = (options: IDataObject = {}, settings = {}) =>
		waitForVideo({ options, whileWaiting: 'hold' }, settings);

	it.each(['task', 'video'] as const)(
		'keeps the minimum poll interval from Get Status to Wait for Video: %s',
		async (kind) => {
			const { run, polls, shortestGap } = await serve((poll) =>
				json({ ...job, status: poll === 0 ? 'queued' : 'completed', result_url: '/file' }),
			);
			const job = kind === 'task' ? task : { id: 'video_1' };
			const result = await run(chain(getStatus(kind), wait()), [job]);
			expect(result.items('Wait for Video')).toMatchObject([{ binary: {} }]);
			expect(polls).toHaveLength(2);
			expect(shortestGap()).toBeGreaterThanOrEqual(minInterval);
		},
	);

	it('polls a job once for all items of Get Status that name it, and gives each an output', async () => {
		const { run, polls } = await serve((poll) => json({ status: 'in_progress', input: { poll } }));
		const result = await run(chain(getStatus()), [
			...[task, { task_id: 'task_2' }, task, { task_id: ' task_1 ' }],
		]);
		const outputs = result.items('Get');
		expect(outputs.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 1, 2, 3].map((item) => ({ item })),
		);
		expect(polls.map(({ path }) => path).sort()).toEqual(['/v1/tasks/task_1', '/v1/tasks/task_2']);
		expect(outputs[2].json).toEqual(outputs[0].json);
		expect(outputs[2].json.input).not.toBe(outputs[0].json.input);
	});
});
