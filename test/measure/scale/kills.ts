import type { Figure } from '../report';
import { playRounds, type Strike } from './rounds';

const killWorker: Strike = async (house, release) => {
	await house.running[0].end('SIGKILL');
	release();
	await house.startWorker();
};

const killMain: Strike = async (house, release) => {
	await house.queue.killMain();
	release();
	await house.startMain();
};

/** As when the machine that all of them share loses its power. */
const killAll: Strike = async (house, release) => {
	const workers = house.running;
	await Promise.all([
		house.queue.killMain(),
		house.webhook.process.end('SIGKILL'),
		...workers.map(async ({ end }) => await end('SIGKILL')),
	]);
	release();
	await Promise.all([
		house.startMain(),
		house.startWebhook(),
		...workers.map(async () => await house.startWorker()),
	]);
};

/** As an update does it: one process after another is stopped as a container is, and started again. */
const restartAll: Strike = async (house, release) => {
	const [first, ...others] = house.running;
	const ending = first.end('SIGTERM');
	// What is under way may end in time.
	release();
	await ending;
	await house.startWorker();
	for (const { end } of others) {
		await end('SIGTERM');
		await house.startWorker();
	}
	await house.webhook.process.end('SIGTERM');
	await house.startWebhook();
	await house.queue.main.stop();
	await house.startMain();
};

const strikes: Record<string, Strike> = {
	'One of two workers killed': killWorker,
	'Main process killed': killMain,
	'All processes killed': killAll,
	'Rolling restart': restartAll,
};

/** Kills and restarts processes of n8n during creates, passes, downloads, and waits that keep running. */
export async function measureProcessKills(): Promise<Figure[]> {
	return await playRounds(strikes, { each: 10, held: 4 });
}

/** One worker killed, with few executions: what CI has time for. */
export async function measureOneKill(): Promise<Figure[]> {
	return await playRounds({ 'One of two workers killed': killWorker }, { each: 4, held: 0 });
}
