import type {
	IConnections,
	ICredentialType,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';

import {
	listSearch,
	loadOptions,
	openSignedBinary,
	registerTypes,
	resumeExecution,
	EngineProcess,
	retryExecution,
	runWorkflow,
	separateByProcess,
	testCredential,
	type WorkflowJson,
} from '../harness';

type Execute = (this: IExecuteFunctions) => Promise<INodeExecutionData[][]>;

function testNode(name: string, execute: Execute, more: Partial<INodeTypeDescription> = {}) {
	return {
		description: {
			displayName: name,
			name,
			group: ['transform'],
			version: 1,
			description: 'A node of this test',
			defaults: { name },
			inputs: ['main'],
			outputs: ['main'],
			properties: [],
			...more,
		},
		execute,
	} satisfies INodeType;
}

/** Fails on its first three runs and counts its runs in the node's context. */
const flaky = testNode('flaky', async function () {
	const context = this.getContext('node') as { attempts?: number };
	context.attempts = (context.attempts ?? 0) + 1;
	if (context.attempts <= 3) throw new Error(`Attempt ${context.attempts} failed`);
	return [[{ json: { attempts: context.attempts }, pairedItem: 0 }]];
});

const slow = testNode('slow', async function () {
	const signal = this.getExecutionCancelSignal();
	if (signal) await once(signal, 'abort');
	throw new Error('Stopped while working');
});

/** What a module of a node may hold. */
const memory = new Map<unknown, unknown>();
separateByProcess(memory);
const moments = new EventEmitter();

/** Writes when it begins, at Stop, and when it ends. */
const writing = testNode('writing', async function () {
	memory.set('begun', true);
	const signal = this.getExecutionCancelSignal() as AbortSignal;
	signal.addEventListener('abort', () => memory.set('stopped', true));
	moments.emit('begun');
	await once(signal, 'abort');
	memory.set('ended', true);
	moments.emit('ended');
	return [[]];
});

const makeFile = testNode('makeFile', async function () {
	const data = await this.helpers.prepareBinaryData(Buffer.from('bytes'), 'a.txt', 'text/plain');
	return [[{ json: {}, binary: { data } }]];
});

const signFile = testNode('signFile', async function () {
	const { data } = this.getInputData()[0].binary ?? {};
	return [[{ json: { url: this.helpers.createBinarySignedUrl(data, '1 hour') } }]];
});

const park = testNode('park', async function () {
	await this.putExecutionToWait(new Date());
	return [this.getInputData()];
});

const stream = testNode('stream', async function () {
	if (this.isStreaming()) await this.sendChunk('item', 0, 'live');
	return [this.getInputData()];
});

const fetchItem = {
	...testNode(
		'fetchItem',
		async function () {
			const credentials = await this.getCredentials('shopApi');
			const url = `${credentials.baseUrl}/item`;
			const request = this.helpers.httpRequestWithAuthentication;
			return [[{ json: { ...credentials, echo: await request.call(this, 'shopApi', { url }) } }]];
		},
		{ credentials: [{ name: 'shopApi', required: true }] },
	),
	methods: {
		listSearch: {
			async searchItems(this: ILoadOptionsFunctions, filter?: string) {
				const { baseUrl } = await this.getCredentials('shopApi');
				const names = [`${this.getCurrentNodeParameter('shelf')}-1`, `${baseUrl}/${filter}`];
				return { results: names.map((name) => ({ name, value: name })) };
			},
		},
		loadOptions: {
			loadShelves: async () => [{ name: 'Top', value: 'top' }],
		},
	},
};

const shopApi: ICredentialType = {
	name: 'shopApi',
	displayName: 'Shop API',
	properties: [
		{ displayName: 'Key', name: 'apiKey', type: 'string', default: '' },
		{ displayName: 'URL', name: 'baseUrl', type: 'string', default: '' },
		{ displayName: 'Advanced', name: 'advanced', type: 'boolean', default: false },
		{
			displayName: 'Region',
			name: 'region',
			type: 'string',
			default: 'eu',
			displayOptions: { show: { advanced: [true] } },
		},
	],
	authenticate: {
		type: 'generic',
		properties: {
			headers: {
				Authorization: '=Bearer {{$credentials.apiKey}}',
				'={{ "x-" + "length" }}': '={{ $credentials.apiKey.length }}',
			},
		},
	},
	test: {
		request: { baseURL: '={{$credentials.baseUrl}}', url: '/check' },
		rules: [{ type: 'responseCode', properties: { value: 403, message: 'This key is asleep' } }],
	},
};

registerTypes({
	nodes: [flaky, slow, writing, makeFile, signFile, park, stream, fetchItem],
	credentials: [shopApi],
});

const start = { name: 'Start', type: 'n8n-nodes-base.manualTrigger' };

function set(name: string, jsonOutput: string) {
	return { name, type: 'n8n-nodes-base.set', parameters: { mode: 'raw', jsonOutput } };
}

/** One line of nodes, each leading to the next. */
function line(...nodes: WorkflowJson['nodes']) {
	const connections: IConnections = {};
	for (const [index, { name }] of nodes.slice(1).entries()) {
		connections[nodes[index].name] = { main: [[{ node: name, type: 'main', index: 0 }]] };
	}
	return { nodes, connections };
}

const json = (items: INodeExecutionData[]) => items.map((item) => item.json);

describe('running a workflow', () => {
	test('core nodes, expressions and pairing work as in n8n; sticky notes stay out', async () => {
		const workflow = line(
			start,
			{
				name: 'Last',
				type: 'n8n-nodes-base.limit',
				parameters: { maxItems: 1, keep: 'lastItems' },
			},
			set('Mark', '={{ { doubled: $json.n * 2, from: $("Start").item.json.n } }}'),
		);
		const note = { name: 'Note', type: 'n8n-nodes-base.stickyNote' };
		const run = await runWorkflow(
			{ ...workflow, nodes: [note, ...workflow.nodes] },
			{ input: [{ json: { n: 1 } }, { json: { n: 2 } }] },
		);
		expect(run.status).toBe('success');
		expect(json(run.items('Mark'))).toEqual([{ doubled: 4, from: 2 }]);
		expect(Object.keys(run.data.resultData.runData)).toEqual(['Start', 'Last', 'Mark']);
	});

	test('a node that two branches lead to runs twice', async () => {
		const { nodes } = line(start, set('A', '{}'), set('B', '{}'), set('C', '={{ { $runIndex } }}'));
		const to = (...names: string[]) => ({
			main: [names.map((node) => ({ node, type: 'main' as const, index: 0 }))],
		});
		const connections = { Start: to('A', 'B'), A: to('C'), B: to('C') };
		const finished: string[] = [];
		const run = await runWorkflow(
			{ nodes, connections },
			{ onNodeFinished: (name) => finished.push(name) },
		);
		expect(json(run.items('C'))).toEqual([{ $runIndex: 0 }]);
		expect(json(run.items('C', { run: -1 }))).toEqual([{ $runIndex: 1 }]);
		expect(finished).toEqual(['Start', 'A', 'C', 'B', 'C']);
	});

	test('a schedule starts by hand with its own output, or with the given one', async () => {
		const workflow = line(
			{ name: 'Daily', type: 'n8n-nodes-base.scheduleTrigger' },
			set('Out', '={{ $json }}'),
		);
		const byHand = await runWorkflow(workflow);
		expect(byHand.items('Out')[0].json).toHaveProperty('timestamp');
		const input = [{ json: { n: 1 } }];
		for (const mode of ['manual', 'trigger'] as const) {
			const run = await runWorkflow(workflow, { input, mode });
			expect(json(run.items('Out'))).toEqual([{ n: 1 }]);
		}
	});

	test('pinned data stands in for a node, by hand only', async () => {
		const workflow = line(start, set('Real', '{ "from": "node" }'), set('Out', '={{ $json }}'));
		const pinData = { Real: [{ json: { from: 'pin' } }] };
		const byHand = await runWorkflow({ ...workflow, pinData });
		expect(json(byHand.items('Out'))).toEqual([{ from: 'pin' }]);
		const active = await runWorkflow({ ...workflow, pinData }, { mode: 'trigger' });
		expect(json(active.items('Out'))).toEqual([{ from: 'node' }]);
	});

	test('what a node streams reaches the listener', async () => {
		const chunks: unknown[] = [];
		const workflow = line({ name: 'Stream', type: 'test.stream' });
		await runWorkflow(workflow, { onChunk: ({ content }) => chunks.push(content) });
		expect(chunks).toEqual(['live']);
	});

	test('Stop, and the time limit of the workflow, cancel the node at work', async () => {
		const workflow = line({ name: 'Slow', type: 'test.slow' }, set('After', '{}'));
		const stopped = await runWorkflow(workflow, {
			startNode: 'Slow',
			onStart: (stop) => setTimeout(stop, 20),
		});
		expect(stopped.status).toBe('canceled');
		expect(() => stopped.items('Slow')).toThrow('Stopped while working');
		expect(() => stopped.items('After')).toThrow('did not run: Stopped while working');
		const settings = { executionOrder: 'v1' as const, executionTimeout: 0.02 };
		const timedOut = await runWorkflow({ ...workflow, settings }, { startNode: 'Slow' });
		expect(timedOut.errorOf('Slow')?.message).toBe('Stopped while working');
	});
});

describe('trying again', () => {
	const workflow = (node: object) =>
		line(
			start,
			set('Before', '={{ { made: $execution.id } }}'),
			{ name: 'Flaky', type: 'test.flaky', ...node },
			set('After', '={{ { ...$json, made: $("Before").item.json.made } }}'),
		);

	test('Retry On Fail runs the node again', async () => {
		const retryOnFail = { retryOnFail: true, maxTries: 4, waitBetweenTries: 1 };
		const run = await runWorkflow(workflow(retryOnFail), { executionId: '7' });
		expect(json(run.items('After'))).toEqual([{ attempts: 4, made: '7' }]);
	});

	test('a node set to continue has both items and an error', async () => {
		const run = await runWorkflow(workflow({ onError: 'continueRegularOutput' }));
		expect(run.errorOf('Flaky')?.message).toBe('Attempt 1 failed');
		expect(run.items('Flaky')).toHaveLength(1);
	});

	test('the Retry button goes on at the failed node, which finds its context', async () => {
		const twoTries = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const failed = await runWorkflow(workflow(twoTries), { executionId: '7' });
		expect(failed.status).toBe('error');
		expect(() => failed.items('Flaky')).toThrow('Attempt 2 failed');

		const retried = await retryExecution(failed);
		expect(retried).toMatchObject({ status: 'success', mode: 'retry' });
		expect(retried.executionId).not.toBe('7');
		expect(json(retried.items('After'))).toEqual([{ attempts: 4, made: '7' }]);
		expect(failed.errorOf('Flaky')?.message).toBe('Attempt 2 failed');
		await expect(retryExecution(retried)).rejects.toThrow('succeeded');
	});

	test('the Retry button can take the workflow as it is now', async () => {
		const failed = await runWorkflow(workflow({}));
		const mended = workflow({ retryOnFail: true, maxTries: 3, waitBetweenTries: 1 });
		const retried = await retryExecution(failed, { workflow: mended });
		expect(json(retried.items('Flaky'))).toEqual([{ attempts: 4 }]);
	});

	test('an execution that waits is stored and goes on', async () => {
		const waiting = await runWorkflow(
			line(start, { name: 'Park', type: 'test.park' }, set('After', '={{ $json }}')),
			{ input: [{ json: { n: 1 } }] },
		);
		expect(waiting.status).toBe('waiting');
		const resumed = await resumeExecution(waiting);
		expect(resumed.executionId).toBe(waiting.executionId);
		expect(json(resumed.items('After'))).toEqual([{ n: 1 }]);
	});
});

describe('a process of n8n', () => {
	/** Presses Stop when the node has begun, but from here, not from within the process. */
	const stopped = async (n8n?: EngineProcess) => {
		let stop = () => {};
		const settings = { startNode: 'Writing', onStart: (cancel: () => void) => (stop = cancel) };
		const workflow = line({ name: 'Writing', type: 'test.writing' });
		const run = async () => await runWorkflow(workflow, settings);
		const begun = once(moments, 'begun');
		const execution = n8n ? n8n.run(run) : run();
		await begun;
		return { execution, stop };
	};

	test('keeps the memory of its modules to itself, also what is written at Stop', async () => {
		const worker = new EngineProcess();
		const { execution, stop } = await stopped(worker);
		stop();
		await execution;
		expect(memory.size).toBe(0);
		const seen = await worker.run(async () => [...memory.keys()]);
		expect(seen).toEqual(['begun', 'stopped', 'ended']);
		expect(await new EngineProcess().run(async () => memory.size)).toBe(0);
	});

	test('takes its memory along when it is killed, and what its executions write later', async () => {
		const n8n = new EngineProcess();
		const { execution, stop } = await stopped(n8n);
		n8n.kill();
		expect(await execution).toBe('killed');
		const ended = once(moments, 'ended');
		stop();
		await ended;
		expect([...memory]).toEqual([]);
	});

	test('shares its memory with whatever runs outside of any', async () => {
		const { execution, stop } = await stopped();
		stop();
		await execution;
		expect(memory.size).toBe(3);
		expect(memory.get('ended')).toBe(true);
		memory.clear();
		expect([...memory]).toEqual([]);
	});
});

describe('binary data', () => {
	test.each(['filesystem', 'default'] as const)('round trip in mode %s', async (binaryDataMode) => {
		const workflow = line(start, { name: 'File', type: 'test.makeFile' });
		const run = await runWorkflow(workflow, { binaryDataMode });
		const [item] = run.items('File');
		expect(item.binary?.data).toMatchObject({ fileName: 'a.txt', mimeType: 'text/plain' });
		expect(item.binary?.data.id !== undefined).toBe(binaryDataMode === 'filesystem');
		expect((await run.binary(item)).toString()).toBe('bytes');
		expect((await buffer(await run.binaryStream(item))).toString()).toBe('bytes');
		await expect(run.binary(item, 'video')).rejects.toThrow('it has: data');
	});

	test('a signed link opens the file', async () => {
		const run = await runWorkflow(
			line(start, { name: 'File', type: 'test.makeFile' }, { name: 'Sign', type: 'test.signFile' }),
			{ restApiUrl: 'http://127.0.0.1:1234/rest' },
		);
		const url = String(run.items('Sign')[0].json.url);
		expect(url).toMatch('http://127.0.0.1:1234/rest/binary-data/signed?token=');
		const { stream, mimeType } = await openSignedBinary(url);
		expect(mimeType).toBe('text/plain');
		expect((await buffer(stream)).toString()).toBe('bytes');
		await expect(openSignedBinary(`${url}x`)).rejects.toThrow('invalid');
	});

	test('Read/Write Files writes into the given folder and nowhere else', async () => {
		const filesFolder = mkdtempSync(path.join(tmpdir(), 'harness-files-'));
		const save = (fileName: string) =>
			line(
				start,
				{ name: 'File', type: 'test.makeFile' },
				{
					name: 'Save',
					type: 'n8n-nodes-base.readWriteFile',
					parameters: { operation: 'write', fileName },
				},
			);
		const file = path.join(filesFolder, 'saved.txt');
		const run = await runWorkflow(save(file), { filesFolder });
		expect(run.items('Save')).toHaveLength(1);
		expect(readFileSync(file, 'utf8')).toBe('bytes');
		// In memory, because the node leaves the stored file open when it may not write.
		const outside = await runWorkflow(save(path.join(tmpdir(), 'outside.txt')), {
			filesFolder,
			binaryDataMode: 'default',
		});
		expect(() => outside.items('Save')).toThrow('not allowed');
		rmSync(filesFolder, { recursive: true });
	});
});

describe('with a server', () => {
	let server: Server;
	let baseUrl: string;
	let answer: (request: IncomingMessage, response: ServerResponse) => void;

	beforeAll(async () => {
		server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
		await once(server, 'listening');
		baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	});
	beforeEach(() => {
		answer = ({ headers }, response) => {
			response.setHeader('content-type', 'application/json').end(JSON.stringify(headers));
		};
	});
	afterAll(() => server.close());

	test('credentials: defaults, hidden fields, headers made by expressions', async () => {
		const credentials = { shopApi: { apiKey: 'secret', baseUrl, region: 'us' } };
		const workflow = line(start, { name: 'Fetch', type: 'test.fetchItem' });
		const run = await runWorkflow(workflow, { credentials });
		const [{ echo, ...values }] = json(run.items('Fetch'));
		expect(values).toEqual({ apiKey: 'secret', baseUrl, advanced: false });
		expect(echo).toMatchObject({ authorization: 'Bearer secret', 'x-length': '6' });
	});

	test('credentials: the core HTTP Request node, in place of an exported one', async () => {
		const parameters = {
			url: baseUrl,
			authentication: 'genericCredentialType',
			genericAuthType: 'httpBearerAuth',
		};
		const exported = { httpBearerAuth: { id: 'abc', name: 'My token' } };
		const type = 'n8n-nodes-base.httpRequest';
		const workflow = line(start, { name: 'Call', type, parameters, credentials: exported });
		const run = await runWorkflow(workflow, {
			credentials: { httpBearerAuth: { token: 'secret' } },
		});
		expect(run.items('Call')[0].json.authorization).toBe('Bearer secret');
	});

	test('a node without its credential fails as in n8n', async () => {
		const run = await runWorkflow(line(start, { name: 'Fetch', type: 'test.fetchItem' }));
		expect(() => run.items('Fetch')).toThrow('credentials');
	});

	test('a credential is tested as n8n does when it is saved', async () => {
		const check = async (status: number) => {
			answer = (_, response) => response.writeHead(status).end('{}');
			return await testCredential('shopApi', { apiKey: 'secret', baseUrl });
		};
		expect(await check(200)).toEqual({ status: 'OK', message: 'Connection successful!' });
		expect(await check(401)).toEqual({ status: 'Error', message: 'Unauthorized' });
		expect(await check(403)).toEqual({ status: 'Error', message: 'This key is asleep' });
		const nobody = { apiKey: 'secret', baseUrl: 'http://127.0.0.1:1' };
		expect(await testCredential('shopApi', nobody)).toEqual({
			status: 'Error',
			message: 'ECONNREFUSED',
		});
	});

	test('dropdowns see the credential, the parameters and the search text', async () => {
		const options = {
			credentials: { shopApi: { apiKey: 'secret', baseUrl } },
			parameters: { shelf: 'top' },
		};
		const found = await listSearch('test.fetchItem', 'searchItems', { ...options, filter: 'cat' });
		expect(found.results.map(({ value }) => value)).toEqual(['top-1', `${baseUrl}/cat`]);
		expect(await loadOptions('test.fetchItem', 'loadShelves', options)).toHaveLength(1);
		await expect(listSearch('test.fetchItem', 'nothing')).rejects.toThrow('nothing');
	});
});
