import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Gateway } from '../../gateway';
import { runWorkflow } from '../harness';
import { byId, chain, modelGateway } from '../support/workflows/workflows';
import { asking, itemText, registerUsers, worldOperations } from './operations';
import { describeSetting, startWorldGateway } from './outcomes';
import { placeHere, startProgram, startScript, urlOf, type Program } from './program';
import { nginxCommand } from './proxies/nginx';

beforeAll(registerUsers);

describe('an AI gateway between the nodes and the service', () => {
	const programs: Program[] = [];
	let gateway: Gateway;
	let folder: string;
	let url: string;

	beforeAll(async () => {
		folder = mkdtempSync(path.join(tmpdir(), 'world-'));
		gateway = await startWorldGateway();
		const [portkey, front] = [await placeHere(), await placeHere()];
		const port = `--port=${portkey.port}`;
		programs.push(
			await startScript('@portkey-ai/gateway/build/start-server.js', [port, '--headless'], portkey),
		);
		// Portkey reads from headers where to go, and nodes send no headers of the user.
		const server = `
			server {
				listen ${front.host}:${front.port};
				location / {
					proxy_pass ${urlOf(portkey)};
					proxy_http_version 1.1;
					proxy_set_header x-portkey-provider openai;
					proxy_set_header x-portkey-custom-host ${gateway.url}/v1;
				}
			}`;
		programs.push(await startProgram(...nginxCommand([server], folder), [front]));
		url = urlOf(front);
	});
	afterAll(async () => {
		await Promise.all(programs.map(async (program) => await program.stop()));
		await gateway.close();
		rmSync(folder, { recursive: true, force: true });
	});

	// Portkey passes on chats and images as JSON only, and replaces other responses by an error of its own.
	const passes = ['chat.complete', 'image.generate', 'image.chat', 'chat model'];
	describeSetting(
		{ title: 'Portkey AI Gateway' },
		() => ({ gateway, url }),
		worldOperations.filter(({ name }) => passes.includes(name)),
	);
});

describe('a server with chats only', () => {
	let program: Program;
	let baseUrl: string;

	beforeAll(async () => {
		const place = await placeHere();
		baseUrl = urlOf(place);
		const env = { PORT: String(place.port) };
		program = await startScript('@dwmkerr/mock-llm/dist/main.js', [], place, env);
	});
	afterAll(async () => await program.stop());

	const run = async (workflow: Parameters<typeof runWorkflow>[0]) =>
		await runWorkflow(workflow, {
			credentials: { modelGatewayApi: { apiKey: 'sk-0123456789', baseUrl } },
			input: [{ json: { text: itemText } }],
		});
	const chat = (stream: boolean) =>
		chain(
			modelGateway(
				{
					resource: 'chat',
					operation: 'complete',
					model: byId('gpt-4'),
					options: { stream },
					messages: { values: [{ role: 'user', content: itemText }] },
				},
				{ name: 'Node' },
			),
		);

	it.each([false, true])('gives the answer of Chat: Complete, streamed: %s', async (stream) => {
		const [{ json }] = (await run(chat(stream))).items('Node');
		expect(json.text).toBe(itemText);
	});

	it.each([false, true])('gives the answer of the chat model, streamed: %s', async (streams) => {
		const [{ json }] = (await run(asking({ streams }))).items('Node');
		expect(json.content).toBe(itemText);
	});

	it('gives the list of models', async () => {
		const list = modelGateway({ resource: 'model', operation: 'getAll' }, { name: 'Node' });
		expect((await run(chain(list))).items('Node').length).toBeGreaterThan(0);
	});
});
