import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Gateway } from '../../gateway';
import { freePort } from '../n8n/n8n';
import { sampleVideo } from '../support/data/samples';
import { registerUsers } from './operations';
import {
	describeSetting,
	printTable,
	proxied,
	refused,
	seeAll,
	startWorldGateway,
	unsent,
	type Outcomes,
	type Setting,
} from './outcomes';
import { startProgram, type Program } from './program';

/** A proxy through which n8n reaches everything, as its administrator has set in HTTP_PROXY. */
interface ForwardProxy extends Setting {
	/** More lines of the configuration of tinyproxy. */
	config?: string[];
	/** Nothing listens at its address. */
	isDown?: true;
	/** Nothing listens at the address of the gateway. */
	isGatewayDown?: true;
}

const forwardProxies: ForwardProxy[] = [
	{ title: 'tinyproxy as HTTP_PROXY' },
	{
		title: 'tinyproxy: asks for a login',
		config: ['BasicAuth staff secret'],
		...{ ends: refused(407), says: /407 .*a login of its own.*API key is not the cause/ },
	},
	{
		title: 'tinyproxy: is down',
		isDown: true,
		...{ ends: unsent, says: /n8n connects through the proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY/ },
	},
	{
		title: 'tinyproxy: cannot reach the gateway',
		isGatewayDown: true,
		...{ ends: proxied(500), says: /HTTP 500/ },
	},
];

const { HTTP_PROXY, NO_PROXY } = process.env;

async function start(folder: string, port: number, config: string[] = []): Promise<Program> {
	const file = path.join(folder, 'tinyproxy.conf');
	writeFileSync(file, [`Port ${port}`, 'Listen 127.0.0.1', 'Timeout 60', ...config, ''].join('\n'));
	return await startProgram('tinyproxy', ['-d', '-c', file], [{ host: '127.0.0.1', port }]);
}

// n8n reads the variables for each request, so the proxies take turns.
describe.each(forwardProxies)('through', (proxy) => {
	let gateway: Gateway;
	let outcomes: Outcomes;
	let program: Program | undefined;
	let folder: string;

	beforeAll(async () => {
		registerUsers();
		await sampleVideo();
		folder = mkdtempSync(path.join(tmpdir(), 'world-'));
		gateway = await startWorldGateway();
		const port = await freePort();
		if (!proxy.isDown) program = await start(folder, port, proxy.config);
		process.env.HTTP_PROXY = `http://127.0.0.1:${port}`;
		delete process.env.NO_PROXY;
		const url = proxy.isGatewayDown ? `http://127.0.0.1:${await freePort()}` : gateway.url;
		outcomes = seeAll(proxy, { gateway, url });
	});
	afterAll(async () => {
		Object.assign(process.env, { HTTP_PROXY, NO_PROXY });
		await program?.stop();
		await gateway.close();
		rmSync(folder, { recursive: true, force: true });
	});

	describeSetting(proxy, async () => outcomes);
});

afterAll(printTable);
