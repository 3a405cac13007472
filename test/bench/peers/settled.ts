import { setTimeout } from 'node:timers/promises';
import { cpuSeconds } from '../../e2e/support/processUsage';

const stepMilliseconds = 500;
/** Of one core. */
const mostIdleShare = 0.04;

/** Waits until a process has come to rest, for at most so many seconds. */
export async function settled(pid: number, seconds = 20): Promise<void> {
	for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline;) {
		const before = cpuSeconds(pid);
		await setTimeout(stepMilliseconds);
		const share = ((cpuSeconds(pid) - before) * 1000) / stepMilliseconds;
		if (share <= mostIdleShare) return;
	}
}
