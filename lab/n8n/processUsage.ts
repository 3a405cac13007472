import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']));

/** Seconds of CPU that a process has used, in its own code and in the kernel's (proc_pid_stat(5)). */
export function cpuSeconds(pid: number): number {
	const [user, system] = timesOf(pid);
	return (user + system) / ticksPerSecond;
}

/** The same for a process and all processes that it has started; 0 once it has ended. */
export function cpuSecondsOfTree(pid: number): number {
	try {
		const own = timesOf(pid).reduce((sum, time) => sum + time, 0) / ticksPerSecond;
		const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
		return children
			.filter(Boolean)
			.reduce((sum, child) => sum + cpuSecondsOfTree(Number(child)), own);
	} catch {
		return 0;
	}
}

/** Ticks in a process's own code and in the kernel's, and the same for its children that have ended. */
function timesOf(pid: number): number[] {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	// The second field, the name in parentheses, may contain anything. The third follows them.
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	return fields.slice(11, 15).map(Number);
}

/** Resident memory in bytes: now, and the maximum since {@link resetPeak}, which the kernel tracks. */
export function memory(pid: number): { now: number; peak: number } {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	const bytesOf = (field: string) =>
		1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
	return { now: bytesOf('VmRSS'), peak: bytesOf('VmHWM') };
}

export function resetPeak(pid: number): void {
	writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
