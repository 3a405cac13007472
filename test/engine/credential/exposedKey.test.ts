import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { earlierJob } from '../../support/workflows/earlierJobs';
import {
	json,
	redirect,
	startServer,
	type ScriptedServer,
} from '../../support/http/scriptedServer';
import {
	chain,
	credentialFor,
	modelGateway,
	waitForVideo,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const key = 'sk-0123456789/abcdef+';
/** Parts of the key in its encodings. No text may contain them. */
const traces = /sk-01234|0123456789|abcdef|2stmdeymzq1|sy0wmtiz|nrltaxmj|zay0/i;

let gateway: Gateway;
let storage: ScriptedServer;
withGateway({ isTimeSimulated: true, keys: { [key]: {} } }, (world) => void ({ gateway } = world));
beforeEach(async () => void (storage = await startServer(json({}))));

const ways = {
	'Wait for Video (task)': ['task', waitForVideo()],
	'Wait for Video (video job)': ['video', waitForVideo()],
	'Reference Video: Get Status': [
		'task',
		modelGateway({ resource: 'referenceVideo', operation: 'get', taskId: '={{ $json.task_id }}' }),
	],
	'Video: Get Content': [
		'video',
		modelGateway({ resource: 'video', operation: 'getContent', videoId: '={{ $json.id }}' }),
	],
	'Video: Get Content without a download': [
		'video',
		modelGateway({
			...{ resource: 'video', operation: 'getContent', videoId: '={{ $json.id }}' },
			download: false,
		}),
	],
} as const;

it('does not follow a redirect of a video link when it contains the key', async () => {
	const { id } = earlierJob(gateway, 'task', mp4Of(1000));
	const redirecting = await startServer(redirect(302, `${storage.url}/v.mp4?a=${key}`));
	const body = { status: 'completed', result_url: `${redirecting.url}/v.mp4`, task_id: id };
	gateway.fault({ route: 'task', action: 'answer', times: Infinity, body: JSON.stringify(body) });
	const result = await runWorkflow(chain(waitForVideo()), {
		credentials: credentialFor(gateway),
		input: [{ json: { task_id: id } }],
	});
	expect(result.errorOf('Wait for Video')).toMatchObject({
		message: `Could not download the video of job ${id}: its link carries the API key`,
		description: expect.stringMatching(/neither used nor shown.*finished and charged/),
	});
	expect(storage.requests).toEqual([]);
});

it('redacts the key in the fields of a running job', async () => {
	const { id } = earlierJob(gateway, 'task');
	const body = { status: 'in_progress', url: `${storage.url}/?a=${key}`, task_id: id };
	gateway.fault({ route: 'task', action: 'answer', body: JSON.stringify(body) });
	const [, node] = ways['Reference Video: Get Status'];
	const result = await runWorkflow(chain(node), {
		credentials: credentialFor(gateway),
		input: [{ json: { task_id: id } }],
	});
	expect(result.items('Model Gateway')[0].json).toMatchObject({ status: 'in_progress' });
	expect(JSON.stringify(result.data)).not.toMatch(traces);
});
