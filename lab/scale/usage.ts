import { readFileSync } from 'node:fs';
import { cpuSecondsOfTree } from '../n8n/processUsage';
import { sum } from '../statistics';
import type { Deployment } from './deployment';

/** Seconds of CPU that the processes of a deployment have used. */
export type Cpu = Record<'main' | 'webhook' | 'workers' | 'postgres' | 'redis', number>;

/** The resources that some work has used. */
export interface Usage {
	seconds: number;
	cpu: Cpu;
	/** The busy share of all cores of the machine, by any process: from 0 to 1. */
	busy: number;
	/** Bytes that PostgreSQL has written to its log of changes. */
	walBytes: number;
}

function cpuOfDeployment({ queue, webhook, workers, database }: Deployment): Cpu {
	return {
		main: cpuSecondsOfTree(queue.main.process.pid),
		webhook: cpuSecondsOfTree(webhook.process.pid),
		workers: sum(workers.map(({ pid }) => cpuSecondsOfTree(pid))),
		postgres: cpuSecondsOfTree(database.pid),
		redis: cpuSecondsOfTree(queue.redis.pid),
	};
}

/** Ticks of all cores: the busy ones, and all. */
function machine(): { busy: number; all: number } {
	const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
	const fields = line.split(/\s+/).slice(1, 9).map(Number);
	const all = sum(fields);
	const idle = fields[3] + fields[4];
	return { busy: all - idle, all };
}

async function walBytesOf({ database }: Deployment): Promise<number> {
	return Number((await database.query("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"))[0][0]);
}

/** Measures what the processes of a deployment use while work is done. */
export async function measure(
	deployment: Deployment,
	work: () => Promise<unknown>,
): Promise<Usage> {
	const look = async () => ({
		cpu: cpuOfDeployment(deployment),
		all: machine(),
		walBytes: await walBytesOf(deployment),
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
