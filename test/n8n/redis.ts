import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { ensureCommands } from './debian';
import { freePort } from './n8n';

export interface Redis {
	readonly port: number;
	readonly pid: number;
	/** Suspends it: it does not respond until {@link resume}. */
	pause(): void;
	resume(): void;
	/** Kills it, which loses everything that it has not written to disk. */
	kill(): Promise<void>;
	/** Starts it again, with what it has written to disk. */
	start(): Promise<void>;
	stop(): Promise<void>;
}

/** Starts an empty Redis on loopback. Installs Debian's package where it is missing, and uses its settings. */
export async function startRedis(folder: string): Promise<Redis> {
	await ensureCommands({ 'redis-server': 'redis-server' });
	await mkdir(folder, { recursive: true });
	const port = await freePort();
	const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
	let server: ChildProcess;
	let ended: Promise<unknown>;
	const endWithUs = () => server.kill('SIGKILL');
	const start = async () => {
		server = spawn('redis-server', settings, { stdio: 'ignore' });
		ended = once(server, 'exit');
		for (let tries = 0; !(await isListening(port)); tries++) {
			if (server.exitCode !== null || tries === 100) throw new Error('Redis did not start');
			await setTimeout(100);
		}
	};
	const kill = async () => {
		server.kill('SIGKILL');
		await ended;
	};
	process.once('exit', endWithUs);
	await start();
	return {
		port,
		get pid() {
			return server.pid as number;
		},
		pause: () => void server.kill('SIGSTOP'),
		resume: () => void server.kill('SIGCONT'),
		kill,
		start,
		async stop() {
			await kill();
			process.off('exit', endWithUs);
		},
	};
}

async function isListening(port: number): Promise<boolean> {
	const socket = connect(port, '127.0.0.1');
	try {
		await once(socket, 'connect');
		return true;
	} catch {
		return false;
	} finally {
		socket.destroy();
	}
}
