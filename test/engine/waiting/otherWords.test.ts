import { resumeToEnd, runWorkflow, SimulatedTime } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { answer, json, startServer } from '../../support/http/scriptedServer';
import { chain, credentialFor, waitForVideo } from '../../support/workflows/workflows';

/** Gateways pass on what the provider of a model says. */
describe('jobs in the words of other services', () => {
	let time: SimulatedTime;
	beforeEach(() => void (time = new SimulatedTime()));
	afterEach(async () => await time.end());

	/** Waits for a task whose polls get these responses in turn, the last of them again and again. */
	const wait = async (...bodies: object[]) => {
		let polls = 0;
		const { url } = await startServer((response, request) => {
			const isPoll = request.path.startsWith('/v1/');
			const body = isPoll && bodies[Math.min(polls++, bodies.length - 1)];
			const video = answer(200, mp4Of(100), { 'content-type': 'video/mp4' });
			(body ? json(body) : video)(response, request);
		});
		const node = waitForVideo({ options: { timeoutMinutes: 2 } }, { name: 'Wait' });
		const first = await runWorkflow(chain(node), {
			credentials: credentialFor({ url, apiKey: 'demo-key' }),
			input: [{ json: { task_id: 'task_1' } }],
		});
		const result = first.status === 'waiting' ? await resumeToEnd(first) : first;
		const task = result.data.resultData.runData.Wait.at(-1);
		const item = task?.data?.main[0]?.[0];
		return { polls, error: task?.error?.message, link: item?.binary && item.json.video_url };
	};

	it.each(['SUCCESS', 'done', 'TASK_STATUS_SUCCEED'])(
		'delivers the video of a job that is %s',
		async (status) => {
			const { polls, link } = await wait({ data: { task_status: status, result_url: '/v.mp4' } });
			expect([polls, link]).toEqual([1, expect.stringMatching(/\/v\.mp4$/)]);
		},
	);

	it.each(['Cancelled', 'timed-out'])('ends at once for a job that is %s', async (status) => {
		const { polls, error } = await wait({ status, fail_reason: 'content policy' });
		expect([polls, error]).toEqual([1, expect.stringContaining('content policy')]);
	});

	it('waits on while only the call has succeeded', async () => {
		const url = '/v.mp4';
		const { polls, link } = await wait(
			{ status: 'success', data: { status: 'processing', url } },
			{ status: 'success', data: { status: 'rendering_pass_2', url } },
			{ status: 'success', data: { status: 'done', url } },
		);
		expect([polls, link]).toEqual([3, expect.stringMatching(/\/v\.mp4$/)]);
	});

	it('downloads a video whose link has a space and letters beyond ASCII', async () => {
		const { link } = await wait({ status: 'completed', result_url: '/视频 1.mp4?sig=a%2fb' });
		expect(link).toMatch(/\/%E8%A7%86%E9%A2%91%201\.mp4\?sig=a%2fb$/);
	});
});
