import { testedVersion } from './installation';

export type ProcessKind = 'main' | 'webhook' | 'worker';

interface QueueSettings {
	/** The processes that need them; missing when all do. */
	processes?: ProcessKind[];
	/** The versions of n8n that need them; missing when all do. */
	versions?: string[];
	env: Record<string, string>;
}

/** The settings of docs/queue-mode.md, without those that depend on the machine: addresses, keys, folders. */
export const queueSettings: QueueSettings[] = [
	{ env: { DB_POSTGRESDB_POOL_SIZE: '5', EXECUTIONS_DATA_PRUNE_MAX_COUNT: '0' } },
	{
		processes: ['main'],
		env: {
			N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '3',
			N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
		},
	},
	{
		processes: ['worker'],
		env: {
			N8N_EVENTBUS_LOGWRITER_MAXTOTALMESSAGESPERFILE: '1',
			// The defaults: the tests of the queue set shorter times.
			QUEUE_WORKER_LOCK_DURATION: '60000',
			QUEUE_WORKER_LOCK_RENEW_TIME: '10000',
			QUEUE_WORKER_STALLED_INTERVAL: '30000',
		},
	},
	{ versions: ['2.40', '2.41'], env: { N8N_DISABLED_MODULES: 'otel' } },
];

/** The recommended settings of a version of n8n, as environment variables of one kind of process. */
export function recommendedEnv(kind: ProcessKind, version = testedVersion): Record<string, string> {
	const own = queueSettings.filter(
		({ processes = [kind], versions = [version] }) =>
			processes.includes(kind) && versions.some((needs) => version.startsWith(needs)),
	);
	return Object.assign({}, ...own.map(({ env }) => env)) as Record<string, string>;
}
