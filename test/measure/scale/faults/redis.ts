import { setTimeout } from 'node:timers/promises';
import { print, type Figure } from '../../report';
import type { House } from '../house';
import { playRounds, type Strike } from '../rounds';

/** How long Redis is away, in seconds. */
const away = 30;

const strikes: Record<string, Strike> = {
	[`Redis hangs for ${away} s`]: async (house, release) => {
		const { redis } = house.queue;
		redis.pause();
		release();
		await setTimeout(away * 1000);
		redis.resume();
		await supervise(house);
	},
	[`Redis is killed, and restarts after ${away} s`]: async (house, release) => {
		const { redis } = house.queue;
		await redis.kill();
		release();
		await setTimeout(away * 1000);
		await redis.start();
		await supervise(house);
	},
};

/** Starts what has ended by itself, as whatever runs n8n does: a process gives up after 10 s without Redis. */
async function supervise(house: House): Promise<void> {
	// Those that are about to end have done so by then.
	await setTimeout(5_000);
	const ended = {
		'the main process': !house.queue.main.process.isRunning,
		'the webhook process': !house.webhook.process.isRunning,
		workers: 2 - house.running.length,
	};
	const named = Object.entries(ended).filter(([, is]) => Boolean(is));
	print(
		`  ended by themselves: ${named.map(([name, is]) => (is === true ? name : `${is} ${name}`)).join(', ') || 'none'}`,
	);
	if (ended['the main process']) await house.startMain();
	if (ended['the webhook process']) await house.startWebhook();
	while (house.running.length < 2) await house.startWorker();
}

/** All as it comes, but that n8n looks for lost executions more often than every 3 minutes. */
const soonLookedFor = { N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '0.2' };

/** Redis goes away amid creates, passes, downloads, and waits that keep running. */
export async function measureRedisFault(): Promise<Figure[]> {
	return await playRounds(strikes, { each: 5, held: 2, env: soonLookedFor });
}
