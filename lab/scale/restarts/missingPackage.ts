import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { within } from '../../../test/support/time/until';
import type { Trial } from './trial';

/** Seconds in which n8n looks for due executions twice. */
const passes = 130;

/** The package is missing on one of two workers for a pass, and then only on the main process. */
export const missingPackageTrials = (count: number): Trial[] => [
	{
		title: 'The package is missing on one of two workers',
		count,
		isByItself: false,
		async disrupt(deployment, stage) {
			// No wait is due until both workers run.
			await deployment.queue.main.process.end('SIGTERM', 35);
			await deployment.stopWorkers(35);
			await deployment.startWorker();
			const bare = await deployment.startWorker({ home: path.join(deployment.folder, 'bare') });
			await deployment.startMain();
			await within(
				async () => (await stage.executions()).some(({ status }) => status === 'error'),
				passes,
			);
			await setTimeout(5_000);
			await bare.end('SIGTERM');
			stage.report('the worker without the package has stopped');
			await deployment.startWorker();
		},
	},
	{
		title: 'The package is missing on the main process',
		count,
		isByItself: true,
		async disrupt(deployment, stage) {
			const { queue } = deployment;
			await queue.main.process.end('SIGTERM', 35);
			await deployment.startMain(path.join(deployment.folder, 'bare-main'));
			stage.report('the main process runs without the package');
			await setTimeout(passes * 1000);
			await queue.main.process.end('SIGTERM', 35);
			await deployment.startMain();
		},
	},
];
