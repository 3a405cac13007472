import { readFileSync } from 'node:fs';
import { cpuSecondsOfTree } from '../../n8n/processUsage';
import { sum } from '../../support/statistics';
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
}

function cpuOfHouse({ queue, webhook, workers, database }: House): Cpu {
	return {
		main: cpuSecondsOfTree(queue.main.process.pid),
		webhook: cpuSecondsOfTree(webhook.process.pid),
		workers: sum(workers.map(({ pid }) => cpuSecondsOfTree(pid))),
		postgres: cpuSecondsOfTree(database.pid),
		redis: cpuSecondsOfTree(queue.redis.pid),
	};
}

/** Ticks of all cores: those at work, and all. */
function machine(): { busy: number; all: number } {
	const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
	const fields = line.split(/\s+/).slice(1, 9).map(Number);
	const all = sum(fields);
	const idle = fields[3] + fields[4];
	return { busy: all - idle, all };
}

async function walBytesOf({ database }: House): Promise<number> {
	return Number((await database.query("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"))[0][0]);
}

/** Measures what the processes of a house use while work is done. */
export async function measure(house: House, work: () => Promise<unknown>): Promise<Usage> {
	const look = async () => ({
		cpu: cpuOfHouse(house),
		all: machine(),
		walBytes: await walBytesOf(house),
		time: performance.now(),
	});
	const before = await look();
	await work();
	const after = await look();
	const names = Object.keys(before.cpu) as Array<keyof Cpu>;
	const used = names.map((name) => [name, after.cpu[name] - before.cpu[name]]);
	return {
		seconds: (after.time - before.time) / 1000,
		cpu: Object.fromEntries(used) as Cpu,
		busy: (after.all.busy - before.all.busy) / (after.all.all - before.all.all),
		walBytes: after.walBytes - before.walBytes,
	};
}

export const sumOf = (cpu: Cpu): number => sum(Object.values(cpu));
