import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../n8n/n8n';
import { until } from '../support/time/until';

export interface Program {
	stop(): Promise<void>;
}

/** A place on loopback. */
export interface Place {
	host: '127.0.0.1' | '::1';
	port: number;
}

/** Starts a program in the foreground, and waits until it listens at all places. It ends with this process. */
export async function startProgram(
	command: string,
	args: string[],
	places: Place[],
	env: NodeJS.ProcessEnv = {},
): Promise<Program> {
	const child = spawn(command, args, {
		stdio: ['ignore', 'ignore', 'pipe'],
		env: { ...process.env, ...env },
	});
	const said = text(child.stderr);
	const ended = once(child, 'exit');
	const end = () => void child.kill('SIGKILL');
	process.once('exit', end);
	for (const place of places) {
		await until(async () => {
			if (child.exitCode !== null) throw new Error(`${command} ended: ${await said}`);
			return await isListening(place);
		}, 30);
	}
	return {
		async stop() {
			process.off('exit', end);
			child.kill('SIGKILL');
			await ended;
		},
	};
}

/** A free place on loopback. */
export const placeHere = async () => ({ host: '127.0.0.1', port: await freePort() }) as const;
export const urlOf = ({ host, port }: Awaited<ReturnType<typeof placeHere>>) =>
	`http://${host}:${port}`;

/** Starts a program of npm. @param script in its package */
export const startScript = async (
	script: string,
	args: string[],
	place: Place,
	env: NodeJS.ProcessEnv = {},
): Promise<Program> => {
	const file = path.join(__dirname, 'node_modules', script);
	return await startProgram(process.execPath, [file, ...args], [place], env);
};

async function isListening({ host, port }: Place): Promise<boolean> {
	const socket = connect(port, host);
	try {
		await once(socket, 'connect');
		return true;
	} catch {
		return false;
	} finally {
		socket.destroy();
	}
}
