import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { n8nCommand, settingsOf, testedVersion } from './installation';

interface ProcessOptions {
	/** The version of n8n; by default the one of this run. */
	version?: string;
	/** The folder of all that n8n stores. */
	home: string;
	logFile: string;
	env: Record<string, string>;
	/** A URL, and the status of its response once the process is ready. */
	ready: { url: string; status: number };
}

export interface N8nProcess {
	readonly pid: number;
	/** Whether it has not ended, by itself or by {@link end}. */
	readonly isRunning: boolean;
	/** Sends the signal and waits until the process ends; kills it when that takes longer: by default 10 s, as Docker does. */
	end(signal: NodeJS.Signals, graceSeconds?: number): Promise<void>;
}

/** Runs a command of n8n, such as `start` or `worker`, and waits until it is ready. */
export async function startProcess(
	command: string[],
	{ version = testedVersion, home, logFile, env, ready }: ProcessOptions,
): Promise<N8nProcess> {
	const log = createWriteStream(logFile, { flags: 'a' });
	const [program, ...args] = n8nCommand(version);
	const child = spawn(program, [...args, ...command], {
		stdio: ['ignore', 'pipe', 'pipe'],
		env: {
			PATH: process.env.PATH,
			HOME: home,
			N8N_USER_FOLDER: home,
			// No requests to n8n's own servers.
			N8N_DIAGNOSTICS_ENABLED: 'false',
			N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
			N8N_TEMPLATES_ENABLED: 'false',
			N8N_PERSONALIZATION_ENABLED: 'false',
			N8N_HIRING_BANNER_ENABLED: 'false',
			N8N_DYNAMIC_BANNERS_ENABLED: 'false',
			...settingsOf(version),
			...env,
		},
	});
	child.stdout.pipe(log);
	child.stderr.pipe(log);
	const ended = once(child, 'exit');
	// Works only if every signal handler calls `process.exit`.
	const endWithUs = () => child.kill('SIGKILL');
	process.once('exit', endWithUs);

	const end = async (signal: NodeJS.Signals, graceSeconds = 10) => {
		if (isRunning(child)) child.kill(signal);
		// n8n waits for executions under way. As with a container, it is killed when that takes too long.
		const late = new AbortController();
		setTimeout(graceSeconds * 1000, undefined, { signal: late.signal }).then(
			() => child.kill('SIGKILL'),
			() => undefined,
		);
		await ended;
		late.abort();
		process.off('exit', endWithUs);
		log.end();
	};
	try {
		await becomesReady(ready.url, ready.status, child);
	} catch (error) {
		await end('SIGKILL');
		throw new Error(`n8n did not start; its log is ${logFile}`, { cause: error });
	}
	return {
		pid: child.pid as number,
		get isRunning() {
			return isRunning(child);
		},
		end,
	};
}

async function becomesReady(url: string, status: number, child: ChildProcess): Promise<void> {
	for (const deadline = Date.now() + 240_000; Date.now() < deadline;) {
		if (!isRunning(child)) throw new Error(`n8n exited with ${child.exitCode ?? child.signalCode}`);
		const response = await fetch(url).catch(() => undefined);
		if (response?.status === status) return;
		await setTimeout(100);
	}
	throw new Error(`${url} did not respond with ${status} within four minutes`);
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
	return exitCode === null && signalCode === null;
}
