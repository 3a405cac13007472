import type { EngineContext } from '../shared/n8n/execution/engineContext';
import { runIndexOf } from '../shared/n8n/execution/memory';

/**
 * Parks the execution: when the node returns, n8n stores it with `getContext`, and removes it from memory. At the given
 * time or up to a minute later, it runs this node again with the same items, also after a restart. Until then, it only
 * shows what the node returns.
 *
 * n8n finds due executions by the column `waitTill`, and skips the first node of an execution whose stored data have
 * a `waitTill`, because a node that has waited is usually done. So the property is hidden from JSON: the column and the
 * message of a worker to the main process have the time, and the stored data do not. `test/e2e/parking.e2e.ts` checks
 * that n8n still works like this.
 * @param time milliseconds since 1970
 * @returns false if this n8n does not; the execution then keeps running
 */
export async function park(context: EngineContext, time: number): Promise<boolean> {
	// The next pass replaces this one instead of being another run of the node.
	context.getExecuteData().runIndex = runIndexOf(context);
	const due = new Date(time);
	const { runExecutionData = {} } = context;
	try {
		await context.putExecutionToWait(due);
	} catch {
		delete runExecutionData.waitTill;
	}
	if (runExecutionData.waitTill === undefined) return false;
	const hidden = { value: due, enumerable: false, writable: true, configurable: true };
	Object.defineProperty(runExecutionData, 'waitTill', hidden);
	return true;
}
