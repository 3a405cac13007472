import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { earlierJob } from '../../support/workflows/earlierJobs';
import {
	answer,
	json,
	redirect,
	startServer,
	type ScriptedServer,
} from '../../support/http/scriptedServer';
import { picture } from '../../support/data/samples';
import {
	byId,
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

/** The promise about the key tries its other encodings. */
const form = Buffer.from(`user:${key}`).toString('base64url');

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
} as const;

describe.each(Object.entries(ways))('%s', (_, [kind, node]) => {
	const route = kind === 'task' ? 'task' : 'videoContent';
	const failureWith = async (headers: Record<string, string>, body: object, status = 200) => {
		const { id } = earlierJob(gateway, kind, mp4Of(1000));
		const answer = { headers, status, body: JSON.stringify({ ...body, task_id: id }) };
		gateway.fault({ route, action: 'answer', times: Infinity, ...answer });
		const result = await runWorkflow(chain(node), {
			credentials: credentialFor(gateway),
			input: [{ json: kind === 'task' ? { task_id: id } : { id } }],
		});
		const { message = '', description } = result.errorOf(node.name) ?? {};
		expect(message).toContain(`${id} finished, but its link carries the API key`);
		expect(description).toMatch(
			/neither used nor shown.*operator.*exposed.*finished and charged, and it is not lost/,
		);
		expect(description).toContain(`Collect it by its ID ${id}`);
		expect(storage.requests).toEqual([]);
		expect(JSON.stringify([result.data, message, description])).not.toMatch(traces);
	};

	it('neither uses nor shows a video link that contains the key', async () => {
		await failureWith({}, { status: 'completed', result_url: `${storage.url}/v.mp4?a=${form}` });
	});

	if (route === 'videoContent') {
		it('does not follow a redirect that contains the key', async () => {
			await failureWith({ location: `${storage.url}/v.mp4?a=${form}` }, {}, 302);
		});
	}
});

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

it.each([true, false])(
	'neither uses nor shows an image link that contains the key, with Download %s',
	async (download) => {
		const request = { resource: 'image', operation: 'generate', model: byId('image-1') };
		const generate = modelGateway(
			{ ...request, prompt: 'A boat', download },
			{ onError: 'continueErrorOutput' },
		);
		const images = await startServer(answer(200, Buffer.from(picture('teal'))));
		const data = [{ url: `${images.url}/1` }, { url: `${storage.url}/2?a=${form}` }];
		const body = JSON.stringify({ data });
		gateway.fault({ route: 'imageGenerate', action: 'answer', body });
		const result = await runWorkflow(chain(generate), { credentials: credentialFor(gateway) });
		expect(result.items('Model Gateway').map(({ json: { index } }) => index)).toEqual([0]);
		expect(result.items('Model Gateway', { output: 1 })).toMatchObject([
			{
				json: {
					error: 'Could not use the image: its link carries the API key',
					details: {
						advice: expect.stringMatching(/neither used nor shown.*made and charged/),
						...{ billed: 'yes', retry_can_help: false },
					},
				},
			},
		]);
		expect(storage.requests).toEqual([]);
		expect(JSON.stringify(result.data)).not.toMatch(traces);
	},
);
