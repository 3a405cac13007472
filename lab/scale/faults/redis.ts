import { setTimeout } from 'node:timers/promises';
import type { Figure } from '../../report';
import { playRounds, type Disruption } from '../rounds';
import { supervise } from '../supervise';

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

/** Redis is unavailable during creates, passes, downloads, and waits that keep running. */
export async function measureRedisFault(): Promise<Figure[]> {
	return await playRounds(disruptions, { each: 5, held: 2 });
}
