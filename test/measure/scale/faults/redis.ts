import { setTimeout } from 'node:timers/promises';
import { print, type Figure } from '../../report';
import type { Deployment } from '../deployment';
import { playRounds, type Disruption } from '../rounds';

/** How long Redis is unavailable, in seconds. */
const away = 30;

const disruptions: Record<string, Disruption> = {
	[`Redis hangs for ${away} s`]: async (deployment, release) => {
		const { redis } = deployment.queue;
		redis.pause();
		release();
		await setTimeout(away * 1000);
		redis.resume();
		await supervise(deployment);
	},
	[`Redis is killed, and restarts after ${away} s`]: async (deployment, release) => {
		const { redis } = deployment.queue;
		await redis.kill();
		release();
		await setTimeout(away * 1000);
		await redis.start();
		await supervise(deployment);
	},
};

/** Restarts processes that ended by themselves, as a supervisor does: n8n exits after 10 s without Redis. */
async function supervise(deployment: Deployment): Promise<void> {
	// By then, the processes that exit without Redis have exited.
	await setTimeout(5_000);
	const ended = {
		'the main process': !deployment.queue.main.process.isRunning,
		'the webhook process': !deployment.webhook.process.isRunning,
		workers: 2 - deployment.running.length,
	};
	const named = Object.entries(ended).filter(([, is]) => Boolean(is));
	print(
		`  ended by themselves: ${named.map(([name, is]) => (is === true ? name : `${is} ${name}`)).join(', ') || 'none'}`,
	);
	if (ended['the main process']) await deployment.startMain();
	if (ended['the webhook process']) await deployment.startWebhook();
	while (deployment.running.length < 2) await deployment.startWorker();
}

/** Defaults, except that n8n checks for lost executions more often than every 3 minutes. */
const frequentRecovery = { N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '0.2' };

/** Redis is unavailable during creates, passes, downloads, and waits that keep running. */
export async function measureRedisFault(): Promise<Figure[]> {
	return await playRounds(disruptions, { each: 5, held: 2, env: frequentRecovery });
}
