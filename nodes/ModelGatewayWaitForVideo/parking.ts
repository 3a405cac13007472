import type { IExecuteFunctions } from 'n8n-workflow';
import { isTool } from '../shared/n8n/agent/tool';
import { clock, stopSignalOf } from '../shared/n8n/client/httpClient';
import { memoryOf, runIndexOf } from '../shared/n8n/items/memory';

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
	const memory = memoryOf(context);
	memory.parkedBy = performance.timeOrigin;
	memory.hasNewOrders = false;
	await context.putExecutionToWait(Object.assign(new Date(time), { toJSON: () => undefined }));
}

/**
 * As it starts, n8n takes up what is due before it looks for crashed executions, and takes for crashed what it
 * has just taken up: it reads that as it was stored, and stores it as crashed. A pass that is stored in between
 * is lost; one that is stored later stands, because n8n stores it whatever the mark, unless Stop was pressed.
 * The look comes once, before n8n answers its users: seconds after its process began, on a small machine up to
 * a minute. So what an earlier n8n has parked does not go on before the process is that old.
 */
export async function outlastStart(context: IExecuteFunctions): Promise<void> {
	const { parkedBy } = memoryOf(context);
	const isRestarted = parkedBy !== undefined && parkedBy !== performance.timeOrigin;
	const left = maxStartup - performance.now();
	// The items' own loop tells of Stop.
	if (isRestarted && left > 0) {
		await clock.sleep(left, stopSignalOf(context)).catch(() => undefined);
	}
}

/** Milliseconds. */
const maxStartup = 60_000;
