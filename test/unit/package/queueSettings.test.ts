import { GlobalConfig } from '@n8n/config';
import { Container } from '@n8n/di';
import { queueSettings } from '../../n8n/queueSettings';
import { read } from '../../support/files/repository';

/** The names of the settings in the page, n8n's defaults, and what the page recommends. */
const rows = [...read('docs/queue-mode.md').matchAll(/^\| (`.*?) \| (.*?) \| (.*?) \|/gm)].map(
	([, ...cells]) => cells.map((cell): string[] => cell.match(/`[^`]+`/g) ?? []),
);
const rowOf = (name: string) => rows.find(([names]) => names.includes(`\`${name}\``)) ?? [];

/** The default of each setting that n8n's package of settings has, read from it. */
function defaultsOfN8n(): Record<string, unknown> {
	const config = Container.get(GlobalConfig);
	const { executions, database, endpoints, eventBus, generic, queue } = config;
	return {
		EXECUTIONS_MODE: executions.mode,
		QUEUE_BULL_REDIS_HOST: queue.bull.redis.host,
		DB_TYPE: database.type,
		N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: executions.queueRecovery.interval,
		N8N_EVENTBUS_LOGWRITER_MAXTOTALMESSAGESPERFILE: eventBus.logWriter.maxTotalMessagesPerFile,
		EXECUTIONS_DATA_PRUNE: executions.pruneData,
		EXECUTIONS_DATA_MAX_AGE: executions.pruneDataMaxAge,
		EXECUTIONS_DATA_PRUNE_MAX_COUNT: executions.pruneDataMaxCount,
		EXECUTIONS_DATA_SAVE_ON_SUCCESS: executions.saveDataOnSuccess,
		EXECUTIONS_DATA_SAVE_ON_ERROR: executions.saveDataOnError,
		DB_POSTGRESDB_POOL_SIZE: database.postgresdb.poolSize,
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: generic.gracefulShutdownTimeout,
		N8N_DISABLE_PRODUCTION_MAIN_PROCESS: endpoints.disableProductionWebhooksOnMainProcess,
		EXECUTIONS_TIMEOUT: executions.timeout,
		QUEUE_WORKER_LOCK_DURATION: queue.bull.settings.lockDuration,
		QUEUE_WORKER_LOCK_RENEW_TIME: queue.bull.settings.lockRenewTime,
		QUEUE_WORKER_STALLED_INTERVAL: queue.bull.settings.stalledInterval,
	};
}

describe('the settings of queue mode', () => {
	it.each(Object.entries(defaultsOfN8n()))('the default of %s is the one of n8n', (name, value) => {
		const [names = [], defaults = []] = rowOf(name);
		expect(defaults[names.indexOf(`\`${name}\``)]).toBe(`\`${String(value)}\``);
	});

	it.each(queueSettings.flatMap(({ env }) => Object.entries(env)))(
		'%s is recommended in docs/queue-mode.md as the tests set it: %s',
		(name, value) => {
			const [, defaults = [], recommended = []] = rowOf(name);
			expect([...defaults, ...recommended]).toContain(`\`${value}\``);
		},
	);
});
