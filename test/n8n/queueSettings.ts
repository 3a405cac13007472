import { testedVersion } from './installation';

/** The processes of n8n in queue mode. */
export type ProcessKind = 'main' | 'webhook' | 'worker';

/** A setting of n8n in queue mode, as the guide recommends it and as the deployment of the measurements has it. */
interface QueueSetting {
	/** Environment variables, or options of a command. */
	names: string[];
	/** The value in n8n's source, as the guide shows it. */
	standard: string;
	/** What we recommend, as the guide shows it. Missing where n8n's default is right. */
	recommended?: string;
	/** The versions of n8n that need what is recommended; missing when all do. */
	versions?: string[];
	/** The processes that need it; missing when all do. */
	processes?: ProcessKind[];
	why: string;
	/**
	 * The values that a measurement sets. Missing where it is n8n's default, or where it depends on the machine:
	 * addresses, keys, folders.
	 */
	measured?: Record<string, string>;
}

/** All that an operator should know. `docs/queue-mode.md` has them as a table. */
export const queueSettings: QueueSetting[] = [
	{
		names: ['EXECUTIONS_MODE', 'QUEUE_BULL_REDIS_HOST', 'DB_TYPE'],
		standard: '`regular`, `localhost`, `sqlite`',
		recommended: '`queue`, your Redis, `postgresdb`',
		why: 'Workers run the executions. SQLite is for one process.',
	},
	{
		names: ['N8N_ENCRYPTION_KEY'],
		standard: 'made at the first start',
		recommended: 'the same everywhere',
		why: 'Workers need it to read the credential.',
	},
	{
		names: ['worker --concurrency'],
		standard: '`10`',
		processes: ['worker'],
		why: 'Slots of a worker. A parked wait takes one only during a pass; a wait that keeps running takes one until it ends.',
	},
	{
		names: ['N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL'],
		standard: '`180`',
		recommended: '`3`',
		processes: ['main'],
		why: 'Minutes between two checks for executions that no worker runs any more. Until then they show as running, and you cannot retry them.',
		measured: { N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '3' },
	},
	{
		names: ['N8N_EVENTBUS_LOGWRITER_MAXTOTALMESSAGESPERFILE'],
		standard: '`500000`',
		recommended: '`1`',
		processes: ['worker'],
		why: 'A starting worker reads its log of events, and marks as crashed every execution that has not ended and of which it ever ran a node. With `1` it reads one line only. [What else this changes](#the-workers-log-of-events).',
		measured: { N8N_EVENTBUS_LOGWRITER_MAXTOTALMESSAGESPERFILE: '1' },
	},
	{
		names: ['EXECUTIONS_DATA_PRUNE', 'EXECUTIONS_DATA_MAX_AGE'],
		standard: '`true`, `336`',
		why: 'Hours for which n8n keeps executions: at least 24, because they hold the IDs by which you collect videos. Pruning also deletes their files.',
	},
	{
		names: ['EXECUTIONS_DATA_PRUNE_MAX_COUNT'],
		standard: '`10000`',
		recommended: '`0`: no limit',
		why: 'n8n also keeps no more executions than this. At ten executions per second, 10,000 are 17 minutes.',
		measured: { EXECUTIONS_DATA_PRUNE_MAX_COUNT: '0' },
	},
	{
		names: ['EXECUTIONS_DATA_SAVE_ON_SUCCESS', 'EXECUTIONS_DATA_SAVE_ON_ERROR'],
		standard: '`all`, `all`',
		why: 'Parked waits survive with any value. Keep `all` for errors: a failed execution that is not saved cannot be retried.',
	},
	{
		names: ['DB_POSTGRESDB_POOL_SIZE'],
		standard: '`2`',
		recommended: '`5`; `10` with many slots',
		why: "Connections of each process. All together must stay under PostgreSQL's `max_connections` (100).",
		measured: { DB_POSTGRESDB_POOL_SIZE: '5' },
	},
	{
		names: ['N8N_GRACEFUL_SHUTDOWN_TIMEOUT'],
		standard: '`30`',
		why: 'Seconds in which a worker finishes its passes and downloads. Give your containers a longer stop timeout; Docker kills after 10 seconds by default.',
	},
	{
		names: ['N8N_DEFAULT_BINARY_DATA_MODE', 'N8N_STORAGE_PATH'],
		standard: '`database`, the folder `.n8n/storage`',
		recommended: '`filesystem`, a folder that all machines mount; or `s3`',
		why: '[Where the files go](#where-the-files-go). S3 needs a paid plan of n8n. Older versions call the folder `N8N_BINARY_DATA_STORAGE_PATH`.',
	},
	{
		names: ['N8N_DISABLE_PRODUCTION_MAIN_PROCESS'],
		standard: '`false`',
		recommended: '`true`, with webhook processes and a load balancer',
		processes: ['main'],
		why: 'Only the main process looks for parked executions: keep webhook calls away from it.',
		measured: { N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true' },
	},
	{
		names: ['N8N_DISABLED_MODULES'],
		standard: 'none',
		recommended: '`otel` in n8n 2.40 and 2.41, unless you use OpenTelemetry',
		versions: ['2.40', '2.41'],
		why: 'These versions may otherwise [end a wait at their start](reliability.md#known-limitations). An n8n without that module, such as 1.123, does not start with this value.',
		measured: { N8N_DISABLED_MODULES: 'otel' },
	},
	{
		names: ['N8N_REINSTALL_MISSING_PACKAGES'],
		standard: '`false`',
		recommended: '`true`, unless your image has the package',
		why: 'Every process needs the package. With `true`, n8n installs what its database lists and its folder lacks. Only what was installed from the UI is listed.',
	},
	{
		names: ['N8N_UNVERIFIED_PACKAGES_ENABLED'],
		standard: '`true`; from n8n 3 `false`',
		recommended: '`true`',
		why: 'With `false`, n8n 3 does not load a community package that n8n has not verified.',
	},
	{
		names: ['EXECUTIONS_TIMEOUT', '_Timeout Workflow_'],
		standard: '`-1`: off',
		why: "Seconds. If you set it, keep it above the node's **Timeout (Minutes)**. In queue mode, each pass has the whole time again.",
	},
	{
		names: [
			'QUEUE_WORKER_LOCK_DURATION',
			'QUEUE_WORKER_LOCK_RENEW_TIME',
			'QUEUE_WORKER_STALLED_INTERVAL',
		],
		standard: '`60000`, `10000`, `30000`',
		processes: ['worker'],
		why: 'Milliseconds. How soon n8n notices that a worker is gone. A worker that is too busy to renew its lock in time loses its executions.',
		// The tests of the queue set shorter times.
		measured: {
			QUEUE_WORKER_LOCK_DURATION: '60000',
			QUEUE_WORKER_LOCK_RENEW_TIME: '10000',
			QUEUE_WORKER_STALLED_INTERVAL: '30000',
		},
	},
];

/** The recommended settings of a version of n8n, as environment variables of one kind of process. */
export function recommendedEnv(kind: ProcessKind, version = testedVersion): Record<string, string> {
	const own = queueSettings.filter(
		({ processes = [kind], versions = [version] }) =>
			processes.includes(kind) && versions.some((needs) => version.startsWith(needs)),
	);
	return Object.assign({}, ...own.map(({ measured }) => measured ?? {})) as Record<string, string>;
}
