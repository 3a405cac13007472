import type { Figure } from '../report';
import { playRounds, type Disruption } from './rounds';

const killWorker: Disruption = async (deployment, release) => {
	await deployment.running[0].end('SIGKILL');
	release();
	await deployment.startWorker();
};

const killMain: Disruption = async (deployment, release) => {
	await deployment.queue.killMain();
	release();
	await deployment.startMain();
};

/** As if the machine of all processes lost power. */
const killAll: Disruption = async (deployment, release) => {
	const workers = deployment.running;
	await Promise.all([
		deployment.queue.killMain(),
		deployment.webhook.process.end('SIGKILL'),
		...workers.map(async ({ end }) => await end('SIGKILL')),
	]);
	release();
	await Promise.all([
		deployment.startMain(),
		deployment.startWebhook(),
		...workers.map(async () => await deployment.startWorker()),
	]);
};

/** As in an update: one process after another is stopped as a container is, and started again. */
const restartAll: Disruption = async (deployment, release) => {
	const [first, ...others] = deployment.running;
	const ending = first.end('SIGTERM');
	// Requests under way may end before the process is killed.
	release();
	await ending;
	await deployment.startWorker();
	for (const { end } of others) {
		await end('SIGTERM');
		await deployment.startWorker();
	}
	await deployment.webhook.process.end('SIGTERM');
	await deployment.startWebhook();
	await deployment.queue.main.stop();
	await deployment.startMain();
};

const disruptions: Record<string, Disruption> = {
	'One of two workers killed': killWorker,
	'Main process killed': killMain,
	'All processes killed': killAll,
	'Rolling restart': restartAll,
};

/** Kills and restarts processes of n8n during creates, passes, downloads, and waits that keep running. */
export async function measureProcessKills(): Promise<Figure[]> {
	return await playRounds(disruptions, { each: 10, held: 4 });
}

/** One worker killed, with few executions: what CI has time for. */
export async function measureOneKill(): Promise<Figure[]> {
	return await playRounds({ 'One of two workers killed': killWorker }, { each: 4, held: 0 });
}
