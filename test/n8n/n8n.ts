import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from './commands';
import { startProcess, type N8nProcess } from './n8nProcess';

interface N8nOptions {
	/** By default the version of this run. */
	version?: string;
	/** The package as users install it; without it, n8n runs without this package. */
	tarball?: string;
	/** The folder of all that n8n stores; by default a new one, which is removed at the end. */
	folder?: string;
	port?: number;
	/** Settings of n8n. */
	env?: Record<string, string>;
}

/** A complete n8n that listens on loopback. */
export interface N8n {
	readonly url: string;
	readonly folder: string;
	/** The file of all that n8n has printed. */
	readonly logFile: string;
	readonly process: N8nProcess;
	/** Kills it, without an orderly shutdown. */
	kill(): Promise<void>;
	stop(): Promise<void>;
}

/** Starts an n8n and waits until it responds. */
export async function startN8n({
	version,
	tarball,
	folder,
	port,
	env,
}: N8nOptions = {}): Promise<N8n> {
	const home = folder ?? (await mkdtemp(path.join(tmpdir(), 'n8n-')));
	if (tarball !== undefined) await installPackage(home, tarball);
	await mkdir(path.join(home, '.n8n-files'), { recursive: true });
	const [ownPort, brokerPort] = [port ?? (await freePort()), await freePort()];
	const url = `http://127.0.0.1:${ownPort}`;
	const logFile = path.join(home, 'n8n.log');
	const process = await startProcess(['start'], {
		version,
		home,
		logFile,
		env: {
			N8N_LISTEN_ADDRESS: '127.0.0.1',
			N8N_PORT: String(ownPort),
			N8N_RUNNERS_BROKER_PORT: String(brokerPort),
			N8N_EDITOR_BASE_URL: url,
			WEBHOOK_URL: url,
			// Its name since n8n 3.
			N8N_WEBHOOK_URL: url,
			N8N_SECURE_COOKIE: 'false',
			...env,
		},
		ready: { url: `${url}/rest/login`, status: 401 },
	});
	return {
		url,
		folder: home,
		logFile,
		process,
		kill: async () => await process.end('SIGKILL'),
		async stop() {
			await process.end('SIGTERM');
			if (folder === undefined) await rm(home, { recursive: true, force: true });
		},
	};
}

/** Installs the package by the command of docs/queue-mode.md. */
export async function installPackage(home: string, tarball: string): Promise<void> {
	const prefix = ['--prefix', path.join(home, '.n8n/nodes')];
	const flags = ['--ignore-scripts', '--legacy-peer-deps'];
	await run('npm', ['install', ...prefix, ...flags, tarball], { quiet: true });
}

/**
 * A free port, if possible the wanted one. It is used a moment later, so it is below 32768, where the system assigns
 * ports to programs that ask for any.
 */
export async function freePort(wanted = randomInt(10_000, 32_768)): Promise<number> {
	const server = createServer();
	try {
		await once(server.listen(wanted, '127.0.0.1'), 'listening');
	} catch {
		return await freePort();
	}
	await once(server.close(), 'close');
	return wanted;
}
