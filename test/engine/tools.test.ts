import { SupplyDataContext } from 'n8n-core';
import type { IDataObject, INode } from 'n8n-workflow';
import { operations } from '../../nodes/ModelGateway/resources';
import { textAt } from '../../nodes/shared/gateway/json';
import { startGateway, type Gateway } from '../gateway';
import {
	openSignedBinary,
	registerTypes,
	retryExecution,
	runWorkflow,
	SimulatedTime,
	type WorkflowJson,
} from '../harness';
import { agent } from './support/agent';
import { picture, sampleVideo, sha256 } from './support/samples';
import { byId, chain, credentialFor, modelGateway } from './support/workflows';

interface Call {
	settings?: Partial<INode>;
	calls?: number;
	/** All calls at once. */
	parallel?: boolean;
	/** The item that the agent got. */
	input?: IDataObject;
	memoryOnly?: boolean;
}

describe('as a tool of an agent', () => {
	let time: SimulatedTime;
	let gateway: Gateway;
	let video: Uint8Array;

	beforeAll(async () => {
		video = await sampleVideo();
		registerTypes({ nodes: [agent] });
	});
	beforeEach(async () => {
		time = new SimulatedTime();
		gateway = await startGateway({
			...{ jobSeconds: Infinity, draw: async () => picture('blue') },
		});
	});
	afterEach(async () => {
		await gateway.close();
		await time.end();
	});

	const answers = async (
		name: string,
		parameters: object,
		{ settings, calls = 1, parallel = false, input = {}, memoryOnly = false }: Call = {},
	) => {
		const type = `n8n-nodes-model-gateway.${name}Tool`;
		const workflow = {
			nodes: [
				{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
				{ name: 'Agent', type: 'test.agent', parameters: { calls, parallel } },
				{ name: 'Tool', type, parameters, ...settings },
			],
			connections: {
				Start: { main: [[{ node: 'Agent', type: 'main', index: 0 }]] },
				Tool: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
			},
		} as WorkflowJson;
		const result = await runWorkflow(workflow, {
			credentials: credentialFor(gateway),
			input: [{ json: input }],
			binaryDataMode: memoryOnly ? 'default' : 'filesystem',
		});
		return result.items('Agent').map(({ json }) => String(json.answer));
	};
	/** The only item of the only answer. */
	const answer = async (...call: Parameters<typeof answers>): Promise<IDataObject> => {
		const [said] = await answers(...call);
		const items = JSON.parse(said) as IDataObject[];
		expect(items).toHaveLength(1);
		return items[0];
	};

	const create = {
		...{ resource: 'video', operation: 'create', model: byId('vid-3.1') },
		prompt: 'A boat',
	};
	const drawing = { resource: 'image', operation: 'generate', prompt: 'A boat' };
	const drawn = { ...drawing, model: byId('image-1') };

	/** The item of a video job, or of a reference video job, that has ended. */
	async function finishedJob(resource: string): Promise<{ item: IDataObject; id: string }> {
		const url = gateway.addMedia('red.png', picture('red'), 'image/png');
		const model = resource === 'video' ? create.model : byId('beta-2.7-r2v');
		const order = modelGateway({ ...create, resource, model, media: { values: [{ url }] } });
		const result = await runWorkflow(chain(order), { credentials: credentialFor(gateway) });
		const item = result.items('Model Gateway')[0].json;
		const id = textAt(item, 'output.task_id', 'id') ?? '';
		gateway.jobs.complete(id, video);
		return { item, id };
	}

	const models: Record<string, string> = {
		'referenceVideo.create': 'beta-2.7-r2v',
		'video.create': 'vid-3.1',
		'image.generate': 'image-1',
		'image.edit': 'image-edit-1-url',
		'image.chat': 'image-chat-1',
		'chat.complete': 'chat-1',
		'message.create': 'chat-1',
		'embedding.create': 'embed-1',
	};

	it.each([
		['one after another', false],
		['at once', true],
	])(
		'orders three times in one execution, when it is called more often: %s',
		async (_, parallel) => {
			const said = await answers('modelGateway', create, { calls: 5, parallel });
			expect(gateway.ledger).toHaveLength(3);
			const refused = said.filter((text) => text.includes('Not ordered'));
			expect(refused).toHaveLength(2);
			expect(refused[0]).toContain(
				'Not ordered: 3 orders per execution are allowed, and the limit is reached. Do not try again. Go on with what was ordered, or tell the user that the limit is reached.',
			);
		},
	);

	it('orders as often as the user allows', async () => {
		const said = await answers(
			'modelGateway',
			{ ...create, options: { maxOrders: 1 } },
			{ calls: 2 },
		);
		expect(said[1]).toContain('1 order per execution is allowed');
		expect(gateway.ledger).toHaveLength(1);
		await answers('modelGateway', { ...create, options: { maxOrders: 9 } }, { calls: 5 });
		expect(gateway.ledger).toHaveLength(6);
	});

	it('does not order again when the execution failed afterwards, and Retry calls it again', async () => {
		const workflow = {
			nodes: [
				{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
				{ name: 'Agent', type: 'test.agent' },
				{ name: 'Tool', type: 'n8n-nodes-model-gateway.modelGatewayTool', parameters: create },
			],
			connections: {
				Start: { main: [[{ node: 'Agent', type: 'main', index: 0 }]] },
				Tool: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
			},
		} as WorkflowJson;
		const { data, ...first } = await runWorkflow(workflow, {
			credentials: credentialFor(gateway),
		});
		// n8n stores an agent whose model fails behind the runs of its tools, to be executed again.
		const agentNode = first.workflowData.nodes.find(({ name }) => name === 'Agent') as INode;
		Object.assign(data.resultData.runData.Agent[0], { error: { message: 'The model failed' } });
		data.resultData.lastNodeExecuted = 'Agent';
		const source = { main: [{ previousNode: 'Start' }] };
		data.executionData?.nodeExecutionStack.push({
			...{ node: agentNode, data: { main: [[{ json: {} }]] }, source },
		});
		const retried = await retryExecution({ ...first, data, finished: false });
		const [{ job }] = gateway.ledger;
		expect(String(retried.items('Agent')[0].json.answer)).toContain(`with the job ID ${job}`);
		expect(gateway.ledger).toHaveLength(1);
	});

	it('says that an Order Key was used before', async () => {
		const keyed = { ...create, options: { orderKey: 'A-1' } };
		const said = await answers('modelGateway', keyed, { calls: 2 });
		expect(JSON.parse(said[1])).toEqual([
			{
				ordered: false,
				order_key: 'A-1',
				reason: 'Order Key “A-1” was used before, so nothing was ordered',
			},
		]);
		expect(gateway.ledger).toHaveLength(1);
	});

	it.each(operations.map(({ resource, value }) => [resource.value, value]))(
		'%s %s answers with JSON and no file',
		async (resource, operation) => {
			const isOfJob = ['get', 'getContent'].includes(operation);
			const { item: input } = isOfJob ? await finishedJob(resource) : { item: {} };
			const url = gateway.addMedia('red.png', picture('red'), 'image/png');
			const [said] = await answers(
				'modelGateway',
				{
					...{ resource, operation, model: byId(models[`${resource}.${operation}`] ?? '') },
					...{ prompt: 'A boat', input: 'A boat', media: { values: [{ url }] } },
					...{ imageSource: 'url', imageUrl: url },
					messages: { values: [{ role: 'user', content: 'Hello' }] },
				},
				{ input },
			);
			const [first] = JSON.parse(said) as IDataObject[];
			expect(Object.keys(first).length).toBeGreaterThan(0);
			expect(said).not.toMatch(/[A-Za-z\d+/]{1000}/);
			expect(gateway.requests.filter(({ route }) => route === 'download')).toEqual([]);
			const leadsOn = ['video', 'referenceVideo', 'image'].includes(resource);
			expect(typeof first.next_step).toBe(leadsOn ? 'string' : 'undefined');
		},
	);

	it.each(['video', 'referenceVideo'])(
		'%s Create tells the id and what to do',
		async (resource) => {
			const url = gateway.addMedia('red.png', picture('red'), 'image/png');
			const model = resource === 'video' ? create.model : byId('beta-2.7-r2v');
			const media = { values: [{ url }] };
			const { id, status, next_step } = await answer('modelGateway', {
				...{ ...create, resource, model, media },
			});
			expect(id).toBe(gateway.ledger[0].job);
			expect(status).toMatch(/^(queued|PENDING)$/i);
			expect(next_step).toMatch(
				new RegExp(`^The video is not finished yet.* the job ID ${String(id)}`),
			);
		},
	);

	it.each(['video', 'referenceVideo'])(
		'Wait for Video tells link, id and status of a %s, whatever the model calls the id',
		async (resource) => {
			const { id } = await finishedJob(resource);
			for (const name of ['id', 'task_id']) {
				const waited = await answer(
					'modelGatewayWaitForVideo',
					{ jobId: `={{ $json.${name} }}`, options: { includeInputFields: true } },
					{ input: { [name]: id, query: 'A boat' } },
				);
				expect(waited).toMatchObject({
					id,
					status: expect.stringMatching(/^(completed|succeeded)$/i),
					url: expect.stringMatching(`^${gateway.storageUrl}`),
					next_step: expect.stringContaining('Give the user the link'),
				});
				expect([waited.job_id, waited.video_url]).toEqual([id, waited.url]);
				// Its model knows what it has said.
				expect(waited).not.toHaveProperty('query');
				const file = await fetch(String(waited.url));
				expect(sha256(new Uint8Array(await file.arrayBuffer()))).toBe(sha256(video));
			}
		},
	);

	it('Get leads to the link of a finished video, and from a failed one to the user', async () => {
		const get = { resource: 'video', operation: 'get', videoId: '={{ $json.id }}' };
		const { id } = await finishedJob('video');
		const finished = await answer('modelGateway', get, { input: { id } });
		expect(finished.next_step).toMatch(/^The video is finished\. Call the tool that waits/);

		const [order] = await answers('modelGateway', create);
		const other = (JSON.parse(order) as [{ id: string }])[0].id;
		gateway.jobs.fail(other, { code: 'upstream_error', message: 'No luck' });
		const failed = await answer('modelGateway', get, { input: { id: other } });
		expect(failed).toMatchObject({
			...{ id: other, status: 'failed' },
			next_step: expect.stringMatching(/^The video failed and will never be finished/),
		});
	});

	it('a video that only the key opens comes as a link to the copy that n8n keeps', async () => {
		const { id } = await finishedJob('video');
		gateway.fault({
			...{ route: 'videoContent', action: 'answer', times: 2 },
			...{ headers: { 'content-type': 'video/mp4' }, body: Buffer.from(video) },
		});
		const { url, video_url } = await answer('modelGatewayWaitForVideo', { jobId: id });
		expect(video_url).toBe(url);
		const { stream, mimeType } = await openSignedBinary(String(url));
		const parts: Buffer[] = [];
		for await (const part of stream) parts.push(part as Buffer);
		expect(mimeType).toBe('video/mp4');
		expect(sha256(Buffer.concat(parts))).toBe(sha256(video));
	});

	it('a picture comes as its link', async () => {
		const { url, next_step } = await answer('modelGateway', drawn);
		const file = await fetch(String(url));
		expect(file.headers.get('content-type')).toBe('image/png');
		expect(next_step).toContain('Markdown image');
	});

	it('a picture without a link comes as a link to the file that n8n keeps', async () => {
		const b64_json = Buffer.from(picture('blue')).toString('base64');
		const body = JSON.stringify({ data: [{ b64_json }] });
		gateway.fault({ route: 'imageGenerate', action: 'answer', body });
		const { url } = await answer('modelGateway', drawn);
		const { stream, mimeType } = await openSignedBinary(String(url));
		stream.destroy();
		expect(mimeType).toBe('image/png');

		gateway.fault({ route: 'imageGenerate', action: 'answer', body });
		const { next_step, ...rest } = await answer('modelGateway', drawn, { memoryOnly: true });
		expect(rest).not.toHaveProperty('url');
		expect(next_step).toMatch(/^The image was made .* there is no link to it/);
	});

	it('an error tells in one text what happened, what to do, and the job', async () => {
		const [order] = await answers('modelGateway', create);
		const { id } = (JSON.parse(order) as [{ id: string }])[0];
		gateway.jobs.fail(id, { code: 'upstream_error', message: 'No luck' });
		const { error, ...rest } = await answer('modelGatewayWaitForVideo', { jobId: id });
		expect(error).toMatch(new RegExp(`^Video job ${id} failed: No luck\\. .*create a new job`));
		expect(error).not.toMatch(/item 0|Details:/i);
		expect(String(error).split('create a new job')).toHaveLength(2);
		expect(rest).toEqual({});
	});

	it('an error keeps a status that looks like the name of a network error', async () => {
		const { id } = await finishedJob('video');
		const body = JSON.stringify({ id, status: 'EXPIRED' });
		gateway.fault({ route: 'video', action: 'answer', body });
		const { error } = await answer('modelGatewayWaitForVideo', {
			...{ jobId: id, options: { timeoutMinutes: 0.01 } },
		});
		expect(error).toContain('last status EXPIRED');
	});

	it('a list without entries says so', async () => {
		const list = { resource: 'model', operation: 'getAll', returnAll: true, filter: 'no such' };
		expect(await answer('modelGateway', list)).toEqual({
			count: 0,
			reason: 'No model has “no such” in its ID. Try a shorter filter',
		});
	});

	it('says that a file cannot be handed to it', async () => {
		const edit = { resource: 'image', operation: 'edit', model: byId('image-edit-1') };
		const [said] = await answers('modelGateway', { ...edit, prompt: 'A boat' });
		expect(said).toContain('an agent hands no files to its tools: give a link');
	});

	it('Create makes a new video at each call that succeeds', async () => {
		await answers('modelGateway', create, { calls: 2 });
		expect(gateway.ledger).toHaveLength(2);
	});

	const ofTools = SupplyDataContext.prototype;
	const { isToolExecution } = ofTools;
	const hosts = { 'n8n 2': isToolExecution, 'n8n 1, which does not tell a tool': undefined };
	afterEach(() => void Object.assign(ofTools, { isToolExecution }));

	it.each(Object.entries(hosts))(
		'Create is not sent again when its answer was lost, whoever asks for it (%s)',
		async (_, known) => {
			Object.assign(ofTools, { isToolExecution: known });
			gateway.fault({ route: 'videoCreate', action: 'reset', accepted: true });
			const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
			const said = await answers('modelGateway', create, { settings, calls: 3 });
			expect(said).toHaveLength(3);
			for (const text of said) {
				expect(text).toContain('the connection was lost before the answer came');
				// n8n's own words for an error of the network.
				expect(text).not.toMatch(/retry the request immediately|Details:/);
			}
			expect(gateway.ledger).toHaveLength(1);
		},
	);
});
