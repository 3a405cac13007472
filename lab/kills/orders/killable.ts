import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Instance } from '../../n8n/instance';
import { startQueue } from '../../n8n/queue';

/** An n8n that is killed during executions. */
export interface Killable {
	readonly url: string;
	/**
	 * Kills the process that runs executions, and starts one that runs the next ones.
	 * @param between called when no process of n8n runs an execution
	 */
	crash(between: () => void): Promise<void>;
	close(): Promise<void>;
}

/** @param tarball the package as users install it */
export type OpenKillable = (folder: string, tarball: string) => Promise<Killable>;

/** A single process, which is started again after the kill. */
export const singleProcess: OpenKillable = async (folder, tarball) => {
	// The default of n8n 2. n8n 1 keeps files in memory, which have no links.
	const env = { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' };
	const instance = await Instance.open(folder, { tarball, env });
	return {
		url: instance.url,
		async crash(between) {
			await instance.end('SIGKILL');
			between();
			// After a crash, n8n waits for 10 s so as not to crash again and again. Without this file it does not wait.
			await rm(path.join(folder, '.n8n/crash.journal'), { force: true });
			await instance.start();
		},
		close: async () => await instance.end('SIGKILL'),
	};
};

/** A main process and two workers: the second takes over from the first. */
export const twoWorkers: OpenKillable = async (folder, tarball) => await openQueue(folder, tarball);

/** The same, but the main process is killed together with the first worker. */
export const twoWorkersAndMain: OpenKillable = async (folder, tarball) =>
	await openQueue(folder, tarball, { killsMain: true });

async function openQueue(
	folder: string,
	tarball: string,
	{ killsMain = false } = {},
): Promise<Killable> {
	const queue = await startQueue({ tarball, folder });
	const first = await queue.startWorker({ concurrency });
	return {
		url: queue.url,
		async crash(between) {
			await Promise.all([first.end('SIGKILL'), killsMain && queue.killMain()]);
			between();
			if (killsMain) await queue.startMain();
			await queue.startWorker({ concurrency });
		},
		close: async () => await queue.close(),
	};
}

/** Executions at a time: more than any sweep starts. */
const concurrency = 200;
