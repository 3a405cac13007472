import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { ensureCommands } from './debian';
import { freePort } from './n8n';

export interface Redis {
	readonly port: number;
	stop(): Promise<void>;
}

/** Starts an empty Redis on loopback, of Debian's package, which is installed where it is missing. */
export async function startRedis(folder: string): Promise<Redis> {
	await ensureCommands({ 'redis-server': 'redis-server' });
	await mkdir(folder, { recursive: true });
	const port = await freePort();
	const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
	// It is gone with the run: nothing is written to disk.
	const server = spawn('redis-server', [...settings, '--save', '', '--appendonly', 'no'], {
		stdio: 'ignore',
	});
	const ended = once(server, 'exit');
	const endWithUs = () => server.kill('SIGKILL');
	process.once('exit', endWithUs);
	for (let tries = 0; !(await isListening(port)); tries++) {
		if (server.exitCode !== null || tries === 100) throw new Error('Redis did not start');
		await setTimeout(100);
	}
	return {
		port,
		async stop() {
			server.kill();
			await ended;
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
