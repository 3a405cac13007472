import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { freePort, startN8n, type N8n } from '../../test/n8n/n8n';
import { startProcess, type N8nProcess } from '../../test/n8n/n8nProcess';
import { startRedis, type Redis } from '../../test/n8n/redis';

interface QueueOptions {
	/** The package as users install it. */
	tarball: string;
	/** The folder of all that n8n stores. */
	folder: string;
	/** n8n's settings for all its processes. */
	env?: Record<string, string>;
}

export interface WorkerOptions {
	/** As the name of its machine: a worker that is started again under its name finds the files that it has left. */
	name?: string;
	/** The maximum of executions at a time. */
	concurrency?: number;
	/** Its own folder, also of its packages, if it does not share that of the main process. */
	home?: string;
	/** n8n's settings for this worker. */
	env?: Record<string, string>;
}

/** An n8n in queue mode: its processes share a folder and a database, by default SQLite. */
export interface Queue {
	/** URL of the main process. */
	readonly url: string;
	readonly redis: Redis;
	readonly main: N8n;
	killMain(): Promise<void>;
	/** Starts the main process again. @param home where it has its packages, if not where it had them */
	startMain(home?: string): Promise<void>;
	startWorker(options?: WorkerOptions): Promise<N8nProcess>;
	/** Starts a process that serves webhooks, at the same address each time. */
	startWebhook(): Promise<{ url: string; process: N8nProcess }>;
	/** Stops all processes, including the workers. */
	close(): Promise<void>;
}

/** With these settings n8n soon notices that a worker is gone; by default it takes a minute or more. */
const soonNoticed = {
	QUEUE_WORKER_LOCK_DURATION: '5000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
	QUEUE_WORKER_STALLED_INTERVAL: '1000',
	// Minutes between two checks for executions that no worker runs; 180 by default.
	N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '0.2',
};

/** Starts Redis, and a main process without any worker. */
export async function startQueue({ tarball, folder, env }: QueueOptions): Promise<Queue> {
	const redis = await startRedis(path.join(folder, 'redis'));
	const shared = {
		EXECUTIONS_MODE: 'queue',
		QUEUE_BULL_REDIS_HOST: '127.0.0.1',
		QUEUE_BULL_REDIS_PORT: String(redis.port),
		...soonNoticed,
		...env,
	};
	let main = await startN8n({ tarball, folder, env: shared });
	const { url } = main;
	const others: N8nProcess[] = [];
	const webhookPort = await freePort();
	/** Settings of a process other than the main one. */
	const common = async (logName: string) => ({
		...shared,
		N8N_EDITOR_BASE_URL: url,
		N8N_RUNNERS_BROKER_PORT: String(await freePort()),
		// As on a separate machine: from this log, n8n learns what crashed there.
		N8N_EVENTBUS_LOGWRITER_LOGBASENAME: `events-${logName}`,
	});
	const added = (process: N8nProcess) => {
		others.push(process);
		return process;
	};
	return {
		url,
		redis,
		get main() {
			return main;
		},
		killMain: async () => await main.kill(),
		async startMain(home = folder) {
			main = await startN8n({ folder: home, port: Number(new URL(url).port), env: shared });
		},
		async startWorker({
			name = `worker-${others.length}`,
			concurrency = 10,
			home = folder,
			env: own,
		}: WorkerOptions = {}) {
			const port = await freePort();
			await mkdir(home, { recursive: true });
			return added(
				await startProcess(['worker', `--concurrency=${concurrency}`], {
					home,
					logFile: path.join(folder, `${name}.log`),
					env: {
						...(await common(name)),
						WEBHOOK_URL: url,
						QUEUE_HEALTH_CHECK_ACTIVE: 'true',
						QUEUE_HEALTH_CHECK_PORT: String(port),
						N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
						...own,
					},
					ready: { url: `http://127.0.0.1:${port}/healthz/readiness`, status: 200 },
				}),
			);
		},
		async startWebhook() {
			const own = `http://127.0.0.1:${webhookPort}`;
			const name = `webhook-${others.length}`;
			const process = await startProcess(['webhook'], {
				home: folder,
				logFile: path.join(folder, `${name}.log`),
				env: {
					...(await common(name)),
					N8N_LISTEN_ADDRESS: '127.0.0.1',
					N8N_PORT: String(webhookPort),
					WEBHOOK_URL: own,
				},
				ready: { url: `${own}/healthz`, status: 200 },
			});
			return { url: own, process: added(process) };
		},
		async close() {
			await Promise.all([...others.map(async ({ end }) => await end('SIGKILL')), main.kill()]);
			await redis.stop();
		},
	};
}
