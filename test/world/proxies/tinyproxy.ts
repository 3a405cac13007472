import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Gateway } from '../../../gateway';
import { sampleVideo } from '../../support/data/samples';
import { registerUsers } from '../operations';
import { describeSetting, startWorldGateway, type Setting } from '../outcomes';
import { placeHere, startProgram, urlOf, type Place, type Program } from '../program';
import { nginxCommand, tlsServer } from './nginx';
import { copyCertificate } from './proxy';

/** A proxy through which n8n reaches everything, as its administrator has set in HTTP_PROXY or HTTPS_PROXY. */
interface ForwardProxy extends Setting {
	/** A line of the configuration of tinyproxy. */
	config?: (folder: string) => string;
	/** No server listens at its address. */
	isDown?: true;
}

const isDown =
	/the proxy 127\.0\.0\.1:\d+ could not be reached .*n8n connects through this proxy \(HTTP_PROXY, HTTPS_PROXY\), which does not respond/;

/** They forward the requests. */
export const forwardProxies: ForwardProxy[] = [
	{ title: 'tinyproxy as HTTP_PROXY' },
	{
		title: 'tinyproxy: is down',
		isDown: true,
		fails: { status: 0, billed: 'no', says: isDown },
	},
];

/**
 * They open a tunnel to an https address, which n8n asks for by CONNECT. Of a refusal, n8n's HTTP client passes on what
 * came with its headers, so the title of the page may be missing.
 */
export const tunnels: ForwardProxy[] = [
	{ title: 'tinyproxy as HTTPS_PROXY' },
	{
		title: 'tinyproxy, CONNECT: asks for a login',
		config: () => 'BasicAuth staff secret',
		fails: {
			status: 407,
			billed: 'no',
			says: /HTTP 407\).*a login of its own.*API key is not the cause/,
		},
	},
	{
		title: 'tinyproxy, CONNECT: filters the address of the gateway',
		config: (folder) => `Filter "${path.join(folder, 'filter')}"`,
		fails: { status: 403, billed: 'no', says: /HTTP 403\).*probably of a proxy or a firewall/ },
	},
];

type Variable = 'HTTP_PROXY' | 'HTTPS_PROXY';
const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const;
const { ...before } = process.env;

function setVariables(values: Partial<Record<string, string>>): void {
	for (const name of variables) {
		delete process.env[name];
		if (values[name] !== undefined) process.env[name] = values[name];
	}
}

async function start(folder: string, place: Place, config: string): Promise<Program> {
	const file = path.join(folder, 'tinyproxy.conf');
	const lines = [`Port ${place.port}`, `Listen ${place.host}`, 'Timeout 60', config, ''];
	writeFileSync(file, lines.join('\n'));
	writeFileSync(path.join(folder, 'filter'), '127.0.0.1\n');
	return await startProgram('tinyproxy', ['-d', '-c', file], [place]);
}

/** Starts nginx, which speaks TLS, before the servers at these URLs. */
async function startTls(folder: string, servers: Array<[Place, string]>): Promise<Program> {
	copyCertificate(folder);
	const sites = servers.map(([place, url]) =>
		tlsServer({ ...place, target: new URL(url).host, name: '' }),
	);
	const places = servers.map(([place]) => place);
	return await startProgram(...nginxCommand(sites, folder), places);
}

/**
 * Runs every operation through every proxy. n8n reads the variable for each request, so the proxies take turns.
 * @param variable with HTTPS_PROXY, the gateway and its files have https addresses
 */
export function describeForwardProxies(proxies: ForwardProxy[], variable: Variable): void {
	describe.each(proxies)('through', (proxy) => {
		let gateway: Gateway;
		let base: string;
		const programs: Program[] = [];
		let folder: string;

		beforeAll(async () => {
			registerUsers();
			await sampleVideo();
			folder = mkdtempSync(path.join(tmpdir(), 'world-'));
			const isTls = variable === 'HTTPS_PROXY';
			const [place, front, files] = [await placeHere(), await placeHere(), await placeHere()];
			const secure = (server: typeof front) => urlOf(server).replace('http:', 'https:');
			gateway = await startWorldGateway(isTls ? { publicStorageUrl: secure(files) } : {});
			const { url, storageUrl } = gateway;
			if (isTls)
				programs.push(
					await startTls(folder, [
						[front, url],
						[files, storageUrl],
					]),
				);
			if (!proxy.isDown) programs.push(await start(folder, place, proxy.config?.(folder) ?? ''));
			setVariables({ [variable]: urlOf(place) });
			base = isTls ? secure(front) : url;
		});
		afterAll(async () => {
			setVariables(before);
			await Promise.all(programs.map(async (program) => await program.stop()));
			await gateway.close();
			rmSync(folder, { recursive: true, force: true });
		});

		describeSetting(proxy, () => ({ gateway, url: base }));
	});
}
