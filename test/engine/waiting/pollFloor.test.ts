import type { IDataObject } from 'n8n-workflow';
import { limits } from '../../../nodes/shared/gateway/protocol/limits';
import {
	EngineProcess,
	runWorkflow,
	SimulatedTime,
	type RunOptions,
	type WorkflowJson,
} from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { answer, json, silence, startServer, type Reply } from '../../support/http/scriptedServer';
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

	const running = json({ task_id: 'task_1', status: 'in_progress', progress: 30 });
	const completed = json({ status: 'completed', result_url: '/file' });
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

	it('fails each item of Get Status with the same job when its poll is refused, and names the job', async () => {
		const { run, polls } = await serve(() => json({ error: { message: 'no' } }, 403));
		const get = getStatus('task', { onError: 'continueRegularOutput' });
		const items = (await run(chain(get), [task, task])).items('Get');
		expect(items).toHaveLength(2);
		for (const { json: output } of items) {
			expect(output).toMatchObject({ details: { job: { id: 'task_1', kind: 'task' } } });
		}
		expect(polls).toHaveLength(1);
	});

	it('keeps the minimum poll interval across the tries of Retry On Fail', async () => {
		const { run, polls, shortestGap } = await serve(() => json({ error: { message: 'no' } }, 403));
		const again = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1000 };
		await run(chain(wait({}, again)), [task]);
		// Each try polls both endpoints, and the first one again after a minute.
		expect(polls).toHaveLength(9);
		expect(shortestGap()).toBeGreaterThanOrEqual(minInterval);
	});

	it('polls a task no more often when another item takes its ID for that of a video', async () => {
		const { run, polls, shortestGap } = await serve((_, kind) => {
			if (kind === 'video') return json({ error: { message: 'no', code: 'video_not_found' } }, 404);
			return Date.now() - began < 60_000 ? running : completed;
		});
		const result = await run(chain(wait()), [task, { id: 'task_1', status: 'queued' }]);
		expect(result.items('Wait for Video')).toMatchObject([{ binary: {} }, { binary: {} }]);
		expect(polls.filter(({ path }) => path.includes('/videos/'))).toHaveLength(1);
		expect(polls.length).toBeLessThanOrEqual(8);
		expect(shortestGap()).toBeGreaterThanOrEqual(minInterval);
	});

	it('continues to poll for one execution when Stop ends the execution that sends the poll', async () => {
		let stop = () => {};
		const stopSoon: Reply = () => void setTimeout(() => stop(), 1500);
		const { run, polls } = await serve((poll) => (poll === 0 ? stopSoon : completed));
		const onStart = (cancel: () => void) => void (stop = cancel);
		const stopped = run(chain(wait()), [task], { onStart });
		const result = await run(chain(wait()), [task]);
		expect(result.items('Wait for Video')).toMatchObject([{ binary: {} }]);
		expect(polls.map(({ at }) => at)).toEqual([0, 4500]);
		expect((await stopped).status).toBe('canceled');
	});

	it('ends one execution on Stop while another execution polls the same job', async () => {
		const { run, times } = await serve((poll) => (poll === 0 ? silence : completed));
		const onStart = (cancel: () => void) => void setTimeout(cancel, 1500);
		const other = run(chain(wait()), [task]);
		expect((await run(chain(wait()), [task], { onStart })).status).toBe('canceled');
		expect(Date.now() - began).toBeLessThan(minInterval);
		expect((await other).items('Wait for Video')).toMatchObject([{ binary: {} }]);
		expect(times()).toHaveLength(2);
	});

	it('does not hold back later polls for long when a poll gets no response', async () => {
		const { run, times } = await serve((poll) => (poll === 0 ? silence : completed));
		const waits = [wait(), wait({ timeoutMinutes: 0.5 })].map(
			async (node) => await run(chain(node), [task]),
		);
		for (const result of await Promise.all(waits)) {
			expect(result.items('Wait for Video')).toMatchObject([{ binary: {} }]);
		}
		expect(times()[1]).toBeLessThan(20_000);
	});

	it('counts the polls of each process of n8n on its own', async () => {
		const { run, times } = await serve(() => completed);
		for (const n8n of [new EngineProcess(), new EngineProcess()]) {
			await n8n.run(async () => await run(chain(getStatus()), [task]));
		}
		expect(times()[1] - times()[0]).toBeLessThan(minInterval);
	});
});
