import type { IWorkflowBase } from 'n8n-workflow';
import { startGateway, type Gateway, type GatewayOptions } from '../../gateway';
import type { WorkflowJson } from '../../test/harness/workflow';
import { startDatabase, type Database } from '../../test/n8n/database';
import type { N8nProcess } from '../../test/n8n/n8nProcess';
import { callWebhook, Owner, type CredentialReference } from '../../test/n8n/owner';
import { recommendedEnv } from '../../test/n8n/queueSettings';
import { startQueue, type Queue, type WorkerOptions } from '../n8n/queue';
import { startDatabaseProxy, type DatabaseProxy } from '../n8n/databaseProxy';
import { withFolder } from '../folder';
import { packInto } from '../../test/support/files/packed';
import { startSink, type Sink } from '../../test/n8n/sink';

interface DeploymentOptions {
	gateway: GatewayOptions;
	workers?: number;
	/** The maximum of executions that each worker runs at a time: n8n's default is 10. */
	concurrency?: number;
	/** Settings of n8n, besides those that the guide recommends. */
	env?: Record<string, string>;
	/** Whether n8n reaches PostgreSQL through {@link Deployment.databaseProxy}. */
	hasDatabaseProxy?: boolean;
}

const encryptionKey = 'the-same-for-all-processes';

/** Redis, PostgreSQL, the embedded gateway, and a complete n8n in queue mode: main, webhook process, workers. */
export class Deployment {
	/** A worker that starts again on its machine finds the files that the last one has left there. */
	private readonly machines: Array<N8nProcess | 'starting'> = [];

	private constructor(
		readonly folder: string,
		readonly gateway: Gateway,
		readonly sink: Sink,
		readonly database: Database,
		readonly queue: Queue,
		public owner: Owner,
		readonly credential: CredentialReference,
		public webhook: { url: string; process: N8nProcess },
		private readonly concurrency: number,
		private readonly env: Record<string, string> | undefined,
		/** Between n8n and PostgreSQL, if it was asked for. */
		readonly databaseProxy: DatabaseProxy | undefined,
	) {}

	/** Opens a deployment, and closes it after use, even after a failure. */
	static async with<Result>(
		{ workers = 2, concurrency = 10, env, hasDatabaseProxy, ...options }: DeploymentOptions,
		use: (deployment: Deployment) => Promise<Result>,
	): Promise<Result> {
		return await withFolder('n8n-scale', async (folder) => {
			const ends: Array<() => Promise<void>> = [];
			try {
				const gateway = await startGateway(options.gateway);
				ends.push(async () => await gateway.close());
				const sink = await startSink();
				ends.push(async () => await sink.close());
				const database = await startDatabase();
				ends.push(async () => await database.stop());
				const proxy = hasDatabaseProxy
					? await startDatabaseProxy(Number(database.env.DB_POSTGRESDB_PORT))
					: undefined;
				if (proxy) ends.push(async () => await proxy.close());
				const queue = await startQueue({
					tarball: packInto(folder).tarball,
					folder,
					env: {
						...database.env,
						...(proxy && { DB_POSTGRESDB_PORT: String(proxy.port) }),
						...recommendedEnv('main'),
						N8N_ENCRYPTION_KEY: encryptionKey,
						...env,
					},
				});
				ends.push(async () => await queue.close());
				const owner = await Owner.of(queue);
				const credential = await owner.createCredential(gateway);
				const webhook = await queue.startWebhook();
				const deployment = new Deployment(
					...([folder, gateway, sink, database, queue, owner] as const),
					...([credential, webhook, concurrency, env, proxy] as const),
				);
				await deployment.startWorkers(workers);
				return await use(deployment);
			} finally {
				for (const end of ends.reverse()) await end();
			}
		});
	}

	/** The needs of the workflows: the credential, and the URL of the sink. */
	get environment() {
		return { credential: this.credential, sinkUrl: this.sink.url };
	}

	/** Starts a worker on the machine of one that has ended, or on a new one. */
	async startWorker({ env, ...options }: WorkerOptions = {}): Promise<N8nProcess> {
		const free = this.machines.findIndex((own) => own !== 'starting' && !own.isRunning);
		const machine = free < 0 ? this.machines.length : free;
		this.machines[machine] = 'starting';
		const worker = await this.queue.startWorker({
			name: `worker-${machine}`,
			concurrency: this.concurrency,
			...options,
			env: { ...recommendedEnv('worker'), ...this.env, ...env },
		});
		this.machines[machine] = worker;
		return worker;
	}

	/** Starts several at the same time. */
	async startWorkers(count: number, options: WorkerOptions = {}): Promise<void> {
		await Promise.all(Array.from({ length: count }, async () => await this.startWorker(options)));
	}

	/** Stops all workers as a container is stopped. */
	async stopWorkers(graceSeconds?: number): Promise<void> {
		await Promise.all(this.running.map(async ({ end }) => await end('SIGTERM', graceSeconds)));
	}

	async startMain(home?: string): Promise<void> {
		await this.queue.startMain(home);
		this.owner = await Owner.of(this.queue);
	}

	async startWebhook(): Promise<void> {
		this.webhook = await this.queue.startWebhook();
	}

	/** Workers that have not ended. */
	get running(): N8nProcess[] {
		return this.workers.filter(({ isRunning }) => isRunning);
	}

	/** The last worker of each machine. */
	get workers(): N8nProcess[] {
		return this.machines.filter((own) => own !== 'starting');
	}

	async publish(workflow: WorkflowJson): Promise<IWorkflowBase> {
		return await this.owner.createPublished(workflow);
	}

	async call(hook: string, query: Record<string, string> = {}): Promise<void> {
		await callWebhook(this.webhook.url, hook, query);
	}

	/** The number of executions of a workflow, by status. */
	async statuses({ id }: IWorkflowBase): Promise<Record<string, number>> {
		const rows = await this.database.query(
			`SELECT status, count(*) FROM execution_entity WHERE "workflowId" = '${id}' AND "deletedAt" IS NULL GROUP BY status`,
		);
		return Object.fromEntries(rows.map(([status, count]) => [status, Number(count)]));
	}

	/** The executions of workflows that n8n has not deleted: ID, status, workflow, and which execution each is a Retry of. */
	async executions(...workflows: IWorkflowBase[]): Promise<StoredExecution[]> {
		const ids = workflows.map(({ id }) => `'${id}'`).join();
		const rows = await this.database.query(
			`SELECT id, status, "workflowId", coalesce("retryOf", '') FROM execution_entity WHERE "workflowId" IN (${ids}) AND "deletedAt" IS NULL ORDER BY id`,
		);
		return rows.map(([id, status, workflow, retryOf]) => ({ id, status, workflow, retryOf }));
	}
}

export interface StoredExecution {
	id: string;
	status: string;
	/** The ID of its workflow. */
	workflow: string;
	/** The ID of another execution, or empty. */
	retryOf: string;
}
