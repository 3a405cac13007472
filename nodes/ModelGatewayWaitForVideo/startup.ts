import type { IExecuteFunctions, IN8nHttpFullResponse } from 'n8n-workflow';
import { SteadyClock } from '../shared/service/client/clock';
import { abortable } from '../shared/service/client/timeouts';
import { textAt } from '../shared/service/json';
import { clock, stopSignalOf } from '../shared/n8n/client/httpClient';
import type { EngineContext } from '../shared/n8n/execution/engineContext';

/** Milliseconds from the start of the process until n8n has certainly searched for crashed executions. */
const maxStartup = 60_000;
const checkInterval = 500;
const checkTimeout = 5_000;

/** By the start of a process: resolves when it has searched for crashed executions. Its executions share it. */
const startups = new Map<number, Promise<void>>();

/**
 * Waits until a restarted n8n has searched for crashed executions.
 *
 * A starting n8n first resumes executions that are due, and then mistakes them for crashed ones: it reads them from its
 * database, and stores them again with that mark. What a pass stores between the two is lost. What it stores later is
 * kept, because n8n ignores the mark unless Stop was pressed.
 */
export async function waitOutStartupRecovery(context: EngineContext): Promise<void> {
	const { timeOrigin } = performance;
	const startup = startups.get(timeOrigin) ?? startupOver(context);
	startups.set(timeOrigin, startup);
	// The item loop reports Stop.
	await abortable(startup, stopSignalOf(context)).catch(() => undefined);
}

/** n8n 2 says when it is ready, just after the search. For other versions, only the time tells. */
async function startupOver(context: IExecuteFunctions): Promise<void> {
	const steady = new SteadyClock(clock);
	const end = steady.now() + maxStartup - performance.now();
	let readiness: Readiness = 'unknown';
	for (let wasStarting = false; readiness === 'starting' || steady.now() < end;) {
		readiness = await readinessOf(context);
		// n8n stops listening when it shuts down.
		if (wasStarting && (readiness === 'ready' || readiness === 'notListening')) return;
		wasStarting ||= readiness === 'starting';
		const left = readiness === 'starting' ? checkInterval : Math.max(0, end - steady.now());
		await steady.sleep(Math.min(checkInterval, left));
	}
}

type Readiness = 'starting' | 'ready' | 'notListening' | 'unknown';

async function readinessOf(context: IExecuteFunctions): Promise<Readiness> {
	try {
		const { statusCode, body } = (await context.helpers.httpRequest({
			url: new URL('healthz/readiness', context.getInstanceBaseUrl()).href,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			timeout: checkTimeout,
		})) as IN8nHttpFullResponse;
		// A proxy before n8n may give responses of its own.
		const status = textAt(body, 'status');
		if (statusCode === 503 && status === 'error') return 'starting';
		return statusCode === 200 && status === 'ok' ? 'ready' : 'unknown';
	} catch (error) {
		return textAt(error, 'code') === 'ECONNREFUSED' ? 'notListening' : 'unknown';
	}
}
