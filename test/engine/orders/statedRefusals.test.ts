import type { IDataObject } from 'n8n-workflow';
import { processedItems, runWorkflow, SimulatedTime } from '../../harness';
import { startServer, type ScriptedServer } from '../../support/http/scriptedServer';
import {
	byId,
	chain,
	createVideo,
	inGroups,
	modelGateway,
} from '../../support/workflows/workflows';

const refusal = { code: 1102, message: 'Account balance not enough', data: null };

let time: SimulatedTime;
let server: ScriptedServer;
/** What the service responds, one after another. */
let responses: object[];

beforeEach(async () => {
	time = new SimulatedTime();
	processedItems.clear();
	server = await startServer((response) => {
		response.writeHead(200, { 'content-type': 'application/json' });
		response.end(JSON.stringify(responses.shift()));
	});
});
afterEach(async () => await time.end());

const run = async (node: ReturnType<typeof modelGateway>) =>
	await runWorkflow(chain(node), {
		credentials: { modelGatewayApi: { apiKey: 'sk-stated-refusals', baseUrl: server.url } },
		mode: 'trigger',
	});
const detailsOf = (error: { context: IDataObject } | undefined) => error?.context.data;

describe('a service that refuses with HTTP 200', () => {
	it('leaves the Order Key unused, so the next run places the order', async () => {
		responses = [refusal, { id: 'video_9', status: 'queued' }];
		const create = createVideo({ options: inGroups({ orderKey: 'row 1' }) });
		const error = (await run(create)).errorOf('Create');
		expect(error?.message).toBe(
			'Could not create the video: Account balance not enough (HTTP 200, 1102)',
		);
		expect(detailsOf(error)).toMatchObject({ billed: 'no', code: '1102' });
		expect((await run(create)).items('Create')[0].json).toMatchObject({ id: 'video_9' });
		expect(server.requests).toHaveLength(2);
	});

	it('keeps the Order Key used after a response that may name a job under another name', async () => {
		responses = [{ code: 21, description: 'queued', result: '8498455807619990' }];
		const create = createVideo({ options: inGroups({ orderKey: 'row 1' }) });
		expect(detailsOf((await run(create)).errorOf('Create'))).toMatchObject({ billed: 'unknown' });
		expect((await run(create)).items('Create')[0].json).toMatchObject({ ordered: false });
		expect(server.requests).toHaveLength(1);
	});

	it.each<[string, IDataObject]>([
		['an image', { resource: 'image', operation: 'generate', prompt: 'A boat' }],
		[
			'a chat',
			{
				...{ resource: 'chat', operation: 'complete' },
				messages: { values: [{ role: 'user', content: 'Hello' }] },
			},
		],
	])('gives its reason for %s, which is not charged', async (_, parameters) => {
		responses = [refusal];
		const node = modelGateway({ ...parameters, model: byId('model-1') }, { name: 'Create' });
		const error = (await run(node)).errorOf('Create');
		expect(error?.message).toContain('Account balance not enough (HTTP 200, 1102)');
		expect(detailsOf(error)).toMatchObject({ billed: 'no' });
		expect(server.requests).toHaveLength(1);
	});
});
