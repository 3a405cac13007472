import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Instance } from '../../instance';
import { startQueue } from '../../queue';

/** An n8n whose end is met by executions. */
export interface Killable {
	readonly url: string;
	/**
	 * Kills the process that runs executions, and lets another run those that follow.
	 * @param between called when nothing of n8n runs an execution
	 */
	crash(between: () => void): Promise<void>;
	close(): Promise<void>;
}

/** @param tarball what users install */
export type OpenKillable = (folder: string, tarball: string) => Promise<Killable>;

/** A single process, which is started again after its end. */
export const singleProcess: OpenKillable = async (folder, tarball) => {
	// As n8n 2 comes: n8n 1 keeps files in its memory, which have no links.
	const env = { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' };
	const instance = await Instance.open(folder, { tarball, env });
	return {
		url: instance.url,
		async crash(between) {
			await instance.end('SIGKILL');
			between();
			// Without it n8n does not wait for 10 s, as it does after a crash lest it crashes again and again.
			await rm(path.join(folder, '.n8n/crash.journal'), { force: true });
			await instance.start();
		},
		close: async () => await instance.end('SIGKILL'),
	};
};

/** A main process and two workers: the second takes over from the first. */
export const twoWorkers: OpenKillable = async (folder, tarball) => await openQueue(folder, tarball);

/** The same, when the main process ends with the first worker. */
export const twoWorkersAndMain: OpenKillable = async (folder, tarball) =>
	await openQueue(folder, tarball, { endsMain: true });

async function openQueue(
	folder: string,
	tarball: string,
	{ endsMain = false } = {},
): Promise<Killable> {
	const queue = await startQueue({ tarball, folder });
	const first = await queue.startWorker({ concurrency });
	return {
		url: queue.url,
		async crash(between) {
			await Promise.all([first.end('SIGKILL'), endsMain && queue.killMain()]);
			between();
			if (endsMain) await queue.startMain();
			await queue.startWorker({ concurrency });
		},
		close: async () => await queue.close(),
	};
}

/** Executions at a time, more than any sweep begins. */
const concurrency = 200;
