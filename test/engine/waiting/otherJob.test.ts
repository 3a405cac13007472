import type { IDataObject } from 'n8n-workflow';
import { runWorkflow, SimulatedTime } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { answer, json, startServer } from '../../support/http/scriptedServer';
import { chain, credentialFor, modelGateway, type Node } from '../../support/workflows/workflows';

const file = '/file';

describe('a response about another job', () => {
	let time: SimulatedTime;
	beforeEach(() => void (time = new SimulatedTime()));
	afterEach(async () => await time.end());

	/** A proxy that returns these bodies, whichever job a request asks for. */
	const proxy = async (body: (path: string, poll: number) => object) => {
		let polls = 0;
		const server = await startServer((response, request) => {
			const video = answer(200, mp4Of(100), { 'content-type': 'video/mp4' });
			const { path } = request;
			(path === file ? video : json(body(path, polls++)))(response, request);
		});
		const run = async (node: Node, ...items: IDataObject[]) =>
			await runWorkflow(
				{
					...chain({ ...node, onError: 'continueRegularOutput' }),
					settings: { saveExecutionProgress: true },
				},
				{
					credentials: credentialFor({ url: server.url, apiKey: 'demo-key' }),
					input: items.map((item) => ({ json: item })),
				},
			);
		return { run, server };
	};

	const done = { status: 'completed', result_url: file };
	const getContent = modelGateway({
		...{ resource: 'video', operation: 'getContent', videoId: '={{ $json.id }}' },
	});
	const getStatus = modelGateway({
		...{ resource: 'referenceVideo', operation: 'get', taskId: '={{ $json.task_id }}' },
	});

	it.each([
		['Get Status', getStatus, { task_id: 'a' }, { task_id: 'b', ...done }],
		['Get Content', getContent, { id: 'a' }, { video_id: 'b', url: file }],
	])('fails %s after several responses about another job', async (_, node, item, body) => {
		const { run, server } = await proxy(() => body);
		const [output] = (await run(node, item)).items(node.name);
		expect(output.json.error).toContain('is about another job: b');
		expect(output.json).toMatchObject({ details: { job: { id: 'a' }, billed: 'unknown' } });
		expect(server.requests.length).toBeGreaterThan(1);
	});
});
