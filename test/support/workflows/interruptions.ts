import type { INodeExecutionData } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import type { EngineProcess, RunOptions, StoredExecution, WorkflowRun } from '../../harness';

type Execute = (onStart: RunOptions['onStart']) => Promise<WorkflowRun>;

/** Runs an execution that `arm` stops, and returns it with what n8n's database holds while it is under way. */
export async function stoppedBy(
	arm: (stop: () => void) => void,
	execute: Execute,
): Promise<{ execution: WorkflowRun; stored: StoredExecution }> {
	let stored: StoredExecution | undefined;
	const execution = await execute((stop, start) => {
		arm(stop);
		stored = start;
	});
	expect(execution.status).toBe('canceled');
	// TypeScript does not see that the callback has assigned it.
	return { execution, stored: stored as unknown as StoredExecution };
}

/** An execution in n8n's database while it is under way, and also after n8n was killed. */
export async function storedBy(n8n: EngineProcess, execute: Execute): Promise<StoredExecution> {
	let stored: StoredExecution | undefined;
	await n8n.run(async () => await execute((_, start) => void (stored = start)));
	return stored as unknown as StoredExecution;
}

/** Acts as soon as the service has accepted this number of jobs. */
export function onLastJob(gateway: Gateway, count: number, act: () => void): void {
	let left = count;
	gateway.on('job', () => void (--left === 0 && act()));
}

/** The same execution as if its trigger had given other items. */
export function withItems(stored: StoredExecution, items: INodeExecutionData[]): StoredExecution {
	const data = structuredClone(stored.data);
	const [first] = data.executionData?.nodeExecutionStack ?? [];
	first.data.main = [items];
	return { ...stored, data };
}
