import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']));

/** Seconds of CPU that a process has taken, in its own code and in the kernel's (proc_pid_stat(5)). */
export function cpuSeconds(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	// The second field, the name, may hold anything in its parentheses; the third follows them.
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	const [user, system] = [fields[11], fields[12]].map(Number);
	return (user + system) / ticksPerSecond;
}

/** Resident memory in bytes: now, and the most since {@link resetPeak}, which the kernel keeps without sampling. */
export function memory(pid: number): { now: number; peak: number } {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	const bytesOf = (field: string) =>
		1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
	return { now: bytesOf('VmRSS'), peak: bytesOf('VmHWM') };
}

export function resetPeak(pid: number): void {
	writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

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
