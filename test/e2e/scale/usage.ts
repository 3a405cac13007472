import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { House } from './house';

/** What the processes of a house have used, in seconds of CPU. */
export type Cpu = Record<'main' | 'webhook' | 'workers' | 'postgres' | 'redis', number>;

/** What some work has used. */
export interface Usage {
	/** That it took. */
	seconds: number;
	cpu: Cpu;
	/** Of all cores of the machine, by whatever process: from 0 to 1. */
	busy: number;
	/** Bytes that PostgreSQL has written to its log of changes. */
	walBytes: number;
	/** Bytes by which the database has grown. */
	databaseBytes: number;
}

/** Ticks in a second, on every Linux of today. */
const ticks = 100;

/** CPU of a process and of all that it has started. */
function cpuOf(pid: number): number {
	const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
	try {
		// The name of the command, in brackets, may hold spaces.
		const fields = read('stat')
			.replace(/^.*\) /s, '')
			.split(' ');
		const own = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / ticks;
		const children = read(`task/${pid}/children`).split(' ').filter(Boolean);
		return children.reduce((sum, child) => sum + cpuOf(Number(child)), own);
	} catch {
		// It has ended meanwhile.
		return 0;
	}
}

function cpuOfHouse({ queue, webhook, workers, database }: House): Cpu {
	return {
		main: cpuOf(queue.main.process.pid),
		webhook: cpuOf(webhook.process.pid),
		workers: workers.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
		postgres: cpuOf(database.pid),
		redis: cpuOf(queue.redis.pid),
	};
}

/** Ticks of all cores: those at work, and all. */
function machine(): { busy: number; all: number } {
	const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
	const fields = line.split(/\s+/).slice(1, 9).map(Number);
	const all = fields.reduce((sum, field) => sum + field, 0);
	const idle = fields[3] + fields[4];
	return { busy: all - idle, all };
}

async function databaseOf({ database }: House): Promise<{ wal: number; size: number }> {
	const [[wal, size]] = await database.query(
		"SELECT pg_current_wal_lsn() - '0/0'::pg_lsn, pg_database_size(current_database())",
	);
	return { wal: Number(wal), size: Number(size) };
}

/** Measures what the processes of a house use while work is done. */
export async function measure(house: House, work: () => Promise<unknown>): Promise<Usage> {
	const [cpu, all, database, begin] = [
		...([cpuOfHouse(house), machine(), await databaseOf(house)] as const),
		performance.now(),
	];
	await work();
	const seconds = (performance.now() - begin) / 1000;
	const [cpuAfter, allAfter] = [cpuOfHouse(house), machine()];
	const databaseAfter = await databaseOf(house);
	const names = Object.keys(cpu) as Array<keyof Cpu>;
	return {
		seconds,
		cpu: Object.fromEntries(names.map((name) => [name, cpuAfter[name] - cpu[name]])) as Cpu,
		busy: (allAfter.busy - all.busy) / (allAfter.all - all.all),
		walBytes: databaseAfter.wal - database.wal,
		databaseBytes: databaseAfter.size - database.size,
	};
}

export const sumOf = (cpu: Cpu): number => Object.values(cpu).reduce((sum, each) => sum + each, 0);

/** Megabytes that a process has in memory. */
export function memoryOf(pid: number): number {
	return field(pid, 'VmRSS');
}

/** The most megabytes that a process has in memory while work is done, its own before included. */
export async function peakMemory(pid: number, work: () => Promise<unknown>): Promise<number> {
	let peak = memoryOf(pid);
	const end = new AbortController();
	const watch = (async () => {
		while (!end.signal.aborted) {
			peak = Math.max(peak, memoryOf(pid));
			await setTimeout(50);
		}
	})();
	try {
		await work();
	} finally {
		end.abort();
		await watch;
	}
	return peak;
}

function field(pid: number, name: string): number {
	const text = readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024;
}
