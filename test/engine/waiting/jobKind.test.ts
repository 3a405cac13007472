import { resumeToEnd, runWorkflow, SimulatedTime } from '../../harness';
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

let time: SimulatedTime;
beforeEach(() => void (time = new SimulatedTime()));
afterEach(async () => await time.end());

/** Waits for the job `job_1` at a service whose two endpoints respond like this to a poll. */
const waitFor = async (replies: { task: Reply; video: Reply }, mode: 'manual' | 'trigger') => {
	const server = await startServer((response, request) => {
		const { path } = request;
		const isContent = path.endsWith('/content');
		const poll = replies[path.startsWith('/v1/tasks/') ? 'task' : 'video'];
		const reply = isContent ? json({ url: '/file' }) : poll;
		(path === '/file' ? answer(200, mp4Of(100)) : reply)(response, request);
	});
	const wait = waitForVideo({ jobId: 'job_1', options: { timeoutMinutes: 3 } });
	const credentials = credentialFor({ url: server.url, apiKey: 'demo-key' });
	const result = await resumeToEnd(await runWorkflow(chain(wait), { mode, credentials }));
	return result.items('Wait for Video')[0];
};
const found = {
	task: json({ task_id: 'job_1', status: 'completed', result_url: '/file' }),
	video: json({ id: 'job_1', status: 'completed' }),
};
const refuse = (status: number) => json({ error: { message: `status ${status}` } }, status);

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
			for (const other of ['task', 'video'] as const) {
				const item = await waitFor({ ...found, [other]: wrong }, mode);
				expect(item).toMatchObject({
					json: { job_id: 'job_1', status: 'completed' },
					binary: {},
				});
			}
		},
	);
});
