import { migrateRunExecutionData, type IRunExecutionData, type ITaskData } from 'n8n-workflow';

import { execute, type ExecutionOptions, type StoredExecution } from './execution';
import type { WorkflowRun } from './result';
import { completeWorkflow, createWorkflow, type WorkflowJson } from './workflow';

interface RetryOptions extends ExecutionOptions {
	/** "Retry with currently saved workflow": the workflow as it is now, after the user has fixed it. */
	workflow?: WorkflowJson;
}

/**
 * Does what the Retry button does with a failed execution (n8n's ExecutionService.retry): the failed node runs again
 * in a new execution, with its input and with the stored contexts of the nodes.
 */
export async function retryExecution(
	failed: StoredExecution,
	{ workflow, ...options }: RetryOptions = {},
): Promise<WorkflowRun> {
	if (failed.finished) throw new Error('The execution succeeded, so it cannot be retried');
	const data = await storedData(failed);
	const { lastNodeExecuted, runData } = data.resultData;
	if (lastNodeExecuted) {
		delete data.resultData.error;
		const runs = runData[lastNodeExecuted];
		if (runs?.at(-1)?.error !== undefined) runs.pop();
	}

	const environment = { ...failed.environment, ...options };
	let { workflowData } = failed;
	if (workflow) {
		workflowData = completeWorkflow(workflow, Object.keys(environment.credentials ?? {}));
		const current = createWorkflow(workflowData);
		for (const entry of data.executionData?.nodeExecutionStack ?? []) {
			const node = current.getNode(entry.node.name);
			if (!node) throw new Error(`The workflow has no node "${entry.node.name}" any more`);
			entry.node = node;
		}
	}
	return await execute(
		{ workflowData, data, mode: 'retry', retryOf: failed.executionId },
		environment,
	);
}

/** Runs the execution of a killed worker from its beginning, as another worker does to which n8n's queue gives it. */
export async function repeatExecution(killed: StoredExecution): Promise<WorkflowRun> {
	const { executionId, environment, workflowData } = killed;
	const data = await storedData(killed);
	const { source: mode = 'trigger' } = data.executionData?.runtimeData ?? {};
	return await execute({ workflowData, data, mode }, { ...environment, executionId });
}

/**
 * Recovers an execution that was killed, as n8n's ExecutionRecoveryService does: each node that had begun gets a
 * made-up first run, in the order in which the workflow lists them, and the last one counts as failed.
 */
export function recoverExecution(
	killed: StoredExecution,
	{ ended, begun }: { ended: string[]; begun: string },
): StoredExecution {
	const data = structuredClone(killed.data);
	const { resultData } = data;
	const madeUp = { startTime: Date.now(), executionIndex: 0, executionTime: 0, source: [null] };
	for (const { name } of killed.workflowData.nodes) {
		if (resultData.runData[name] || (name !== begun && !ended.includes(name))) continue;
		const outcome: Partial<ITaskData> =
			name === begun
				? { executionStatus: 'crashed', error: new Error('Node crashed') as never }
				: { executionStatus: 'success', data: { main: [[{ json: {} }]] } };
		resultData.runData[name] = [{ ...madeUp, ...outcome }];
		resultData.lastNodeExecuted = name;
	}
	return { ...killed, data };
}

/** Resumes a waiting execution as n8n does when it is due: under the same ID. */
export async function resumeExecution(
	waiting: WorkflowRun,
	options: ExecutionOptions = {},
): Promise<WorkflowRun> {
	if (waiting.status !== 'waiting') throw new Error('The execution does not wait');
	const { executionId, environment, workflowData, mode } = waiting;
	return await execute(
		{ workflowData, data: await storedData(waiting), mode, resumed: true },
		{ ...environment, executionId, ...options },
	);
}

/** Resumes a waiting execution whenever it is due, as n8n does, but without n8n's minute between two checks. */
export async function resumeToEnd(
	run: WorkflowRun,
	options: ExecutionOptions = {},
): Promise<WorkflowRun> {
	while (run.status === 'waiting') {
		const left = (run.waitTill as Date).getTime() - Date.now();
		if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
		run = await resumeExecution(run, options);
	}
	return run;
}

/** The execution's data after it was stored in n8n's database and read again: only plain JSON is left. */
async function storedData({ data }: StoredExecution): Promise<IRunExecutionData> {
	const { parse, stringify } = await import('flatted');
	return migrateRunExecutionData(parse(stringify(data)));
}
