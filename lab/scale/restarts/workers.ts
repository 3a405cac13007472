import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { until } from '../../../test/support/time/until';
import type { Deployment } from '../deployment';
import type { Stage, Trial } from './trial';

const workers = 2;

/** Longer than n8n takes from one search for due executions to the next. */
const searchSeconds = 130;

/** Waits until the main process has put all executions into the queue. */
async function enqueued({ executions, report }: Stage): Promise<void> {
	await until(
		async () => !(await executions()).some(({ status }) => status === 'waiting'),
		searchSeconds,
	);
	report('the main process has enqueued all');
}

type EnvOf = (machine: number) => Record<string, string>;

/** At the same time, so that each looks for crashed executions before the other one resumes them. */
async function startAll(deployment: Deployment, envOf: EnvOf): Promise<void> {
	const machines = Array.from({ length: workers }, (_, machine) => machine);
	await Promise.all(
		machines.map(async (machine) => await deployment.startWorker({ env: envOf(machine) })),
	);
}

/** Stops all workers until every parked execution is due, and starts them again on their machines. */
async function restartWorkers(
	deployment: Deployment,
	stage: Stage,
	envOf: EnvOf = () => ({}),
): Promise<void> {
	await deployment.stopWorkers(35);
	stage.report('both workers have stopped');
	await enqueued(stage);
	await startAll(deployment, envOf);
}

/** n8n's default. */
const standard = { N8N_EVENTBUS_LOGWRITER_MAXTOTALMESSAGESPERFILE: '500000' };

/** Both workers restart, with their logs of events as n8n sets them by default, or with a remedy. */
export function eventLogTrials(count: number): Trial[] {
	return [
		{
			title: "Both workers restart, n8n's default event log",
			count,
			isByItself: false,
			async disrupt(deployment, stage) {
				await restartWorkers(deployment, stage, () => standard);
			},
		},
		{
			title: 'Both workers restart, event log not read',
			count,
			isByItself: true,
			disrupt: async (deployment, stage) => await restartWorkers(deployment, stage),
		},
		{
			title: 'Both workers restart, event log in a folder that does not survive',
			count,
			isByItself: true,
			async prepare(deployment) {
				await deployment.stopWorkers(35);
				await startAll(deployment, fleetingLog(deployment));
			},
			async disrupt(deployment, stage) {
				const envOf = fleetingLog(deployment);
				await restartWorkers(deployment, stage, (machine) => {
					rmSync(envOf(machine)[logPath], { force: true });
					return envOf(machine);
				});
			},
		},
	];
}

const logPath = 'N8N_EVENTBUS_LOGWRITER_LOGFULLPATH';

const fleetingLog =
	({ folder }: Deployment): EnvOf =>
	(machine) => ({ ...standard, [logPath]: path.join(folder, 'fleeting', `${machine}.log`) });

/** As in an update that is rolled back, or in a crash loop: workers stop soon after their start. */
export const youngWorkers = (count: number): Trial => ({
	title: 'Both workers stop 10 s after their start',
	count,
	isByItself: true,
	async disrupt(deployment, stage) {
		await restartWorkers(deployment, stage);
		await setTimeout(10_000);
		const begun = performance.now();
		await deployment.stopWorkers(35);
		const seconds = ((performance.now() - begun) / 1000).toFixed(0);
		stage.report(`both workers have stopped again, which took ${seconds} s`);
		await deployment.startWorkers(workers);
	},
});

/** As in an update: one process after another is stopped as a container is, and started again. */
export const rollingRestart = (count: number): Trial => ({
	title: 'A rolling restart of all processes',
	count,
	isByItself: true,
	async disrupt(deployment, { report }) {
		// Passes take a while, so that processes stop during them.
		const slow = deployment.gateway.fault({
			route: 'video',
			action: 'stall',
			seconds: 4,
			times: Infinity,
		});
		await until(() => slow.hits > 0, searchSeconds);
		report('passes have begun');
		for (const { end } of deployment.running) {
			await end('SIGTERM', 35);
			await deployment.startWorker();
		}
		await deployment.webhook.process.end('SIGTERM', 35);
		await deployment.startWebhook();
		await deployment.queue.main.process.end('SIGTERM', 35);
		await deployment.startMain();
		slow.remove();
	},
});
