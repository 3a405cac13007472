import { readFileSync } from 'node:fs';
import { cpuSecondsOfTree } from '../support/processUsage';
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

function cpuOfHouse({ queue, webhook, workers, database }: House): Cpu {
	return {
		main: cpuSecondsOfTree(queue.main.process.pid),
		webhook: cpuSecondsOfTree(webhook.process.pid),
		workers: workers.reduce((sum, { pid }) => sum + cpuSecondsOfTree(pid), 0),
		postgres: cpuSecondsOfTree(database.pid),
		redis: cpuSecondsOfTree(queue.redis.pid),
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
