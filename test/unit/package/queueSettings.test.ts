import { GlobalConfig } from '@n8n/config';
import { Container } from '@n8n/di';
import { queueSettings } from '../../n8n/queueSettings';

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
		const setting = queueSettings.find(({ names }) => names.includes(name));
		const values = setting?.standard.match(/`[^`]+`/g) ?? [];
		expect(values[setting?.names.indexOf(name) ?? 0]).toBe(`\`${String(value)}\``);
	});
});
