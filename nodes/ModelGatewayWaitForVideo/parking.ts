import type { IExecuteFunctions } from 'n8n-workflow';
import { isTool } from '../shared/n8n/agent/tool';
import { clock, stopSignalOf } from '../shared/n8n/client/httpClient';
import { runIndexOf, StoredJobs } from '../shared/n8n/execution/memory';

/** Why n8n could not resume this execution if it were parked; undefined when it can. */
export function parkingObstacle(context: IExecuteFunctions): string | undefined {
	if (isTool(context.getNode())) return 'a tool of an AI agent cannot be parked';
	return context.getWorkflow().id ? undefined : 'only a saved workflow can be parked';
}

/**
 * Parks the execution. n8n stores it when the node returns, and removes it from memory. At the given time or up to a
 * minute later, it runs this node again with the same items, also after a restart. Until then, n8n only shows what the
 * node returns. It keeps what is in `getContext`.
 *
 * Normally, n8n considers a node that has waited as done: it skips the first node of an execution whose stored data
 * have a `waitTill`. It finds executions that are due by a column of that name. So the time is a date that is missing
 * in JSON: it is in the column, but not in the data. `test/e2e/parking.e2e.ts` checks that n8n still works like this.
 * @param time milliseconds since 1970
 */
export async function park(context: IExecuteFunctions, time: number): Promise<void> {
	// The next pass replaces this one instead of being another run of the node.
	context.getExecuteData().runIndex = runIndexOf(context);
	new StoredJobs(context).executionParked();
	await context.putExecutionToWait(Object.assign(new Date(time), { toJSON: () => undefined }));
}

/**
 * Waits until a restarted n8n has searched for crashed executions, if another process parked this execution.
 *
 * A starting n8n first resumes executions that are due, and then searches for crashed ones. It mistakes the executions
 * that it has just resumed for crashed ones: it reads them from its database, and stores them again, marked as crashed.
 * What a pass stores between the two is lost. What it stores later is kept, because n8n ignores the mark, unless Stop
 * was pressed. The search runs once, before n8n responds to its users: usually seconds after the process has started,
 * on a small machine up to a minute.
 */
export async function waitOutStartupRecovery(context: IExecuteFunctions): Promise<void> {
	if (!new StoredJobs(context).wasParkedByOtherProcess) return;
	const left = maxStartup - performance.now();
	// The item loop reports Stop.
	if (left > 0) await clock.sleep(left, stopSignalOf(context)).catch(() => undefined);
}

/** Milliseconds from the start of the process until n8n has certainly searched. */
const maxStartup = 60_000;
