import type { IExecuteFunctions } from 'n8n-workflow';
import { isTool } from '../shared/n8n/agent/tool';
import { clock, stopSignalOf } from '../shared/n8n/client/httpClient';
import { runIndexOf, StoredJobs } from '../shared/n8n/execution/memory';

/** Why n8n could not take this execution up again; undefined when it can. */
export function parkingObstacle(context: IExecuteFunctions): string | undefined {
	if (isTool(context.getNode())) return 'a tool of an AI agent cannot be parked';
	return context.getWorkflow().id ? undefined : 'only a saved workflow can be parked';
}

/**
 * Parks the execution: n8n stores it as soon as the node returns, lets go of it, and runs this node again, with
 * the same items, at the given time or up to a minute later, also when n8n was restarted meanwhile. What the node
 * returns is only shown until then; what it has in `getContext` is kept.
 *
 * n8n takes a node that has waited to be over: of an execution whose stored data have a `waitTill`, it skips the
 * first node. It finds what is due by a column of that name. So the time is a date that leaves no trace in JSON:
 * it is in the column, and not in the data. `test/e2e/parking.e2e.ts` tells whether n8n still works like this.
 * @param time milliseconds since 1970
 */
export async function park(context: IExecuteFunctions, time: number): Promise<void> {
	// The next pass takes the place of this one, instead of being another run of the node.
	context.getExecuteData().runIndex = runIndexOf(context);
	new StoredJobs(context).executionParked();
	await context.putExecutionToWait(Object.assign(new Date(time), { toJSON: () => undefined }));
}

/**
 * Waits until a restarted n8n has looked for crashed executions, where its earlier process parked this one.
 *
 * A starting n8n resumes what is due, and only then searches for crashed executions. It mistakes those that it has
 * just resumed for crashed ones: it reads them as they were stored, and stores them again, marked as crashed. What
 * a pass stores between the two is lost. What it stores later is kept, because n8n ignores the mark, unless Stop was
 * pressed. The search runs once, before n8n responds to its users: seconds after the process has begun, on a small
 * machine up to a minute.
 */
export async function waitOutStartupRecovery(context: IExecuteFunctions): Promise<void> {
	if (!new StoredJobs(context).hasRestartedSinceParked) return;
	const left = maxStartup - performance.now();
	// The item loop reports Stop.
	if (left > 0) await clock.sleep(left, stopSignalOf(context)).catch(() => undefined);
}

/** Milliseconds. */
const maxStartup = 60_000;
