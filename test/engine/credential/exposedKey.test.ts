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
import { chain, credentialFor, waitForVideo } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const key = 'sk-0123456789/abcdef+';

let gateway: Gateway;
let storage: ScriptedServer;
withGateway({ isTimeSimulated: true, keys: { [key]: {} } }, (world) => void ({ gateway } = world));
beforeEach(async () => void (storage = await startServer(json({}))));

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
