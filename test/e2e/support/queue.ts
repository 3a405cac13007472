import path from 'node:path';
import { freePort, startN8n } from './n8n';
import { startProcess, type N8nProcess } from './n8nProcess';
import { startRedis } from './redis';

export interface QueueOptions {
	/** What users install. */
	tarball: string;
	/** Where n8n keeps everything. */
	folder: string;
	/** Settings of the main process and of all workers. */
	env?: Record<string, string>;
}

/** An n8n in queue mode: a main process, and workers that share its folder and its database, which is SQLite. */
export interface Queue {
	/** Of the main process. */
	readonly url: string;
	killMain(): Promise<void>;
	/** Starts the main process again. */
	startMain(): Promise<void>;
	/** Starts a worker that runs as many executions at a time. */
	startWorker(concurrency?: number): Promise<N8nProcess>;
	/** Ends what was started, workers too. */
	close(): Promise<void>;
}

/** Milliseconds until n8n notices that a worker is gone; a minute by default. */
const lockDuration = 5_000;
/** Minutes between two looks for executions that no worker runs; 3 by default. */
const recoveryInterval = 0.2;

/** Starts Redis, and a main process without any worker. */
export async function startQueue({ tarball, folder, env }: QueueOptions): Promise<Queue> {
	const redis = await startRedis(path.join(folder, 'redis'));
	const shared = {
		EXECUTIONS_MODE: 'queue',
		QUEUE_BULL_REDIS_HOST: '127.0.0.1',
		QUEUE_BULL_REDIS_PORT: String(redis.port),
		QUEUE_WORKER_LOCK_DURATION: String(lockDuration),
		QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
		QUEUE_WORKER_STALLED_INTERVAL: '1000',
		N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: String(recoveryInterval),
		...env,
	};
	let main = await startN8n({ tarball, folder, env: shared });
	const { url } = main;
	const workers: N8nProcess[] = [];
	return {
		url,
		killMain: async () => await main.kill(),
		async startMain() {
			main = await startN8n({ folder, port: Number(new URL(url).port), env: shared });
		},
		async startWorker(concurrency = 10) {
			const [port, brokerPort] = [await freePort(), await freePort()];
			const worker = await startProcess(['worker', `--concurrency=${concurrency}`], {
				home: folder,
				logFile: path.join(folder, `worker-${workers.length}.log`),
				env: {
					...shared,
					N8N_EDITOR_BASE_URL: url,
					WEBHOOK_URL: url,
					QUEUE_HEALTH_CHECK_ACTIVE: 'true',
					QUEUE_HEALTH_CHECK_PORT: String(port),
					N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
					N8N_RUNNERS_BROKER_PORT: String(brokerPort),
					// As on a machine of its own: n8n tells from it what crashed there.
					N8N_EVENTBUS_LOGWRITER_LOGBASENAME: `events-${workers.length}`,
				},
				ready: { url: `http://127.0.0.1:${port}/healthz/readiness`, status: 200 },
			});
			workers.push(worker);
			return worker;
		},
		async close() {
			await Promise.all([...workers.map(async ({ end }) => await end('SIGKILL')), main.kill()]);
			await redis.stop();
		},
	};
}
