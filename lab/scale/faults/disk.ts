import { execFileSync } from 'node:child_process';
import { forAll, print, type Figure } from '../../report';
import { mp4Of } from '../../../test/support/files/boxes';
import { withFolder } from '../../folder';
import { Deployment } from '../deployment';
import { videoWorkflow } from '../../../test/n8n/videoWorkflows';
import { ended, onceEach, printError } from './expectations';

const video = mp4Of(8_000_000);

/** The disk for n8n's files is too small for the video at first, and is then enlarged. */
export async function measureDiskFault(): Promise<Figure[]> {
	return await withFolder('n8n-disk', runOutOfSpace);
}

async function runOutOfSpace(folder: string): Promise<Figure[]> {
	const mount = (...options: string[]) =>
		execFileSync('mount', ['-t', 'tmpfs', ...options, 'tmpfs', folder], { stdio: 'pipe' });
	const unmount = () => execFileSync('umount', ['--lazy', folder], { stdio: 'pipe' });
	try {
		mount('-o', 'size=4m');
	} catch (error) {
		print(`  skipped, because nothing can be mounted here: ${String(error).split('\n')[0]}`);
		return [];
	}
	process.prependOnceListener('exit', unmount);
	try {
		return await Deployment.with(
			{
				gateway: { jobSeconds: 1, render: async () => video },
				workers: 1,
				env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem', N8N_BINARY_DATA_STORAGE_PATH: folder },
			},
			async (deployment) => {
				const workflow = await deployment.publish(videoWorkflow('disk', deployment.environment));
				await deployment.call('disk', { name: 'disk' });
				const [failed] = await ended(deployment, workflow);
				printError(failed);
				mount('-o', 'remount,size=40m');
				await deployment.owner.request('POST', `/executions/${failed.id}/retry`, {
					loadWorkflow: false,
				});
				await ended(deployment, workflow);
				const shown = JSON.stringify(failed.data.resultData.error ?? {});
				const isNamed = shown.includes('n8n has no space left for files');
				return [
					forAll('A full disk: errors that say what to do', Number(isNamed), 1),
					...onceEach(deployment, 'A full disk, then space and Retry', ['disk']),
				];
			},
		);
	} finally {
		process.off('exit', unmount);
		unmount();
	}
}
