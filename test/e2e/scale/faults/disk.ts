import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { print, type Figure } from '../../../bench/report';
import { mp4Of } from '../../../support/boxes';
import { House } from '../house';
import { videoWorkflow } from '../workflows';
import { ended, onceEach, printError } from './expectations';

const video = mp4Of(8_000_000);

/** A disk for n8n's files that is too small for the video, and then is not. */
export async function diskFault(): Promise<Figure[]> {
	const folder = path.join(mkdtempSync(path.join(tmpdir(), 'n8n-disk-')), 'files');
	mkdirSync(folder);
	const mount = (...options: string[]) =>
		execFileSync('mount', ['-t', 'tmpfs', ...options, 'tmpfs', folder], { stdio: 'pipe' });
	const unmount = () => execFileSync('umount', ['--lazy', folder], { stdio: 'pipe' });
	try {
		mount('-o', 'size=4m');
	} catch (error) {
		print(`  left out, because nothing can be mounted here: ${String(error).split('\n')[0]}`);
		return [];
	}
	process.once('exit', unmount);
	try {
		return await House.with(
			{
				gateway: { jobSeconds: 1, render: async () => video },
				workers: 1,
				env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem', N8N_BINARY_DATA_STORAGE_PATH: folder },
			},
			async (house) => {
				const workflow = await house.publish(videoWorkflow('disk', house.places));
				await house.call('disk', { name: 'disk' });
				const [failed] = await ended(house, workflow);
				printError(failed);
				mount('-o', 'remount,size=40m');
				await house.owner.request('POST', `/executions/${failed.id}/retry`, {
					loadWorkflow: false,
				});
				await ended(house, workflow);
				const told = JSON.stringify(failed.data.resultData.error ?? {});
				const isTold = told.includes('There is no room left where n8n keeps its files');
				return [
					{
						figure: 'A full disk: the error says what to do',
						value: isTold ? 'yes' : 'no',
						...{ goal: 'yes', met: isTold },
					},
					...onceEach(house, 'A full disk, then room and Retry', ['disk']),
				];
			},
		);
	} finally {
		process.off('exit', unmount);
		unmount();
		rmSync(path.dirname(folder), { recursive: true, force: true });
	}
}
