import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { defaultVersion, nodeBinary } from '../../test/n8n/installation';
import { memory, resetPeak } from '../n8n/processUsage';
import { settled } from './measure';

/**
 * Downloads these files, one after another, in a Node.js process in which nothing else runs.
 * @param folder for the files, which are deleted
 * @returns the bytes by which it grew in the last download
 */
export async function growthOfNodeAlone(urls: string[], folder: string): Promise<number> {
	const file = path.join(folder, 'node-alone');
	const child = fork(path.join(__dirname, 'pipeDownloads.mjs'), [file], {
		execPath: nodeBinary(defaultVersion),
		execArgv: [],
		// Ctrl-C only reaches this process; the child ends with it.
		detached: true,
	});
	const ended = once(child, 'exit');
	const pid = Number(child.pid);
	let growth = 0;
	try {
		for (const url of urls) {
			await settled(pid);
			resetPeak(pid);
			const { now } = memory(pid);
			child.send(url);
			await Promise.race([once(child, 'message'), ended.then(failed)]);
			growth = memory(pid).peak - now;
			await rm(file);
		}
		return growth;
	} finally {
		if (child.connected) child.disconnect();
		await ended;
	}
}

function failed(): never {
	throw new Error('Node.js alone could not download the file');
}
