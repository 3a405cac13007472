import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway } from '../gateway';
import { nodeTypes, runWorkflow } from '../harness';
import { earlierJob } from '../support/earlierJobs';
import { sampleVideo } from './support/samples';
import { byId, chain, credentialFor, modelGateway, waitForVideo } from './support/workflows';

const act = (resource: string, operation: string, parameters: IDataObject = {}) =>
	modelGateway({ resource, operation, download: false, ...parameters }, { name: 'Node' });

describe('the signed links of an output', () => {
	let gateway: Gateway;
	let jobs: IDataObject;

	beforeAll(async () => {
		const video = await sampleVideo();
		gateway = await startGateway();
		const [task, job] = (['task', 'video'] as const).map((kind) =>
			earlierJob(gateway, kind, video),
		);
		jobs = { task_id: task.id, id: job.id };
	});
	afterAll(async () => await gateway.close());

	it.each([
		['referenceVideo.get', act('referenceVideo', 'get', { taskId: '={{ $json.task_id }}' })],
		['video.getContent', act('video', 'getContent', { videoId: '={{ $json.id }}' })],
		['image.generate', act('image', 'generate', { model: byId('image-1'), prompt: 'A boat' })],
		['image.chat', act('image', 'chat', { model: byId('image-chat-1'), prompt: 'A boat' })],
		[
			'Wait for Video',
			waitForVideo({}, { name: 'Node', parameters: { jobId: '={{ $json.id }}', download: false } }),
		],
		[
			'Wait for Video, a task',
			waitForVideo(
				{},
				{ name: 'Node', parameters: { jobId: '={{ $json.task_id }}', download: false } },
			),
		],
	])('are declared sensitive: %s', async (_, node) => {
		const credentials = credentialFor(gateway);
		const result = await runWorkflow(chain(node), { credentials, input: [{ json: jobs }] });
		const [{ json }] = result.items('Node');
		const withLinks = Object.keys(json).filter((field) =>
			/^http\S*signature=/i.test(String(json[field])),
		);
		expect(withLinks.length).toBeGreaterThan(0);
		const { description } = nodeTypes.getByNameAndVersion(node.type, 1);
		expect(description.sensitiveOutputFields).toEqual(expect.arrayContaining(withLinks));
	});
});
