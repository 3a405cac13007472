import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import type {
	IRunExecutionData,
	IWorkflowBase,
	StructuredChunk,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { AsyncResource } from 'node:async_hooks';

import { witness } from '../../gateway/witness';
import { applyEnvironment, createAdditionalData, type Environment } from './environment';
import { withHelpers, type WorkflowRun } from './result';
import { createWorkflow } from './workflow';

export interface ExecutionOptions extends Environment {
	/** Counted up by default, as n8n does. */
	executionId?: string;
	/** Called once the execution has started. `cancel` is what the Stop button does. */
	onStart?(cancel: () => void, stored: StoredExecution): void;
	/** Receives what nodes stream with `sendChunk`. Without it, the nodes see that streaming is off. */
	onChunk?(chunk: StructuredChunk): void;
}

/** An execution in n8n's database. While it is under way, this is its state at the start. */
export type StoredExecution = Pick<
	WorkflowRun,
	'data' | 'executionId' | 'workflowData' | 'environment' | 'finished'
>;

interface Execution {
	workflowData: IWorkflowBase;
	/** The nodes left to run, and the results so far. The engine works on this very object. */
	data: IRunExecutionData;
	mode: WorkflowExecuteMode;
	/** The ID of the failed execution that is retried. */
	retryOf?: string;
	/** Whether the execution resumes after a wait. */
	resumed?: boolean;
}

let executionCount = 0;

/** Runs what is on the execution's stack, as n8n's WorkflowRunner does for every kind of start. */
export async function execute(
	{ workflowData, data, mode, retryOf, resumed }: Execution,
	options: ExecutionOptions,
): Promise<WorkflowRun> {
	const { onStart, onChunk, ...rest } = options;
	const { executionId = String(++executionCount), ...environment } = rest;
	await applyEnvironment(environment);
	for (const key of keysIn(environment)) witness.emit('key', key);

	const hooks = new ExecutionLifecycleHooks(mode, executionId, workflowData, retryOf);
	if (onChunk) hooks.addHandler('sendChunk', onChunk);
	const timeout = (workflowData.settings?.executionTimeout ?? 0) * 1000;
	const additionalData = {
		...createAdditionalData(environment),
		hooks,
		executionId,
		workflowId: workflowData.id,
		restartExecutionId: resumed ? executionId : undefined,
		executionTimeoutTimestamp: timeout > 0 ? Date.now() + timeout : undefined,
		streamingEnabled: onChunk !== undefined,
	};

	const workflow = createWorkflow(workflowData, data.resultData.pinData);
	// The engine sets it only once the execution has begun, which is too late for the stored copy below.
	if (data.executionData) {
		data.executionData.runtimeData ??= { version: 1, establishedAt: Date.now(), source: mode };
	}
	const stored = { data: structuredClone(data), executionId, workflowData, environment };
	const engine = new WorkflowExecute(additionalData, mode, data);
	const execution = engine.processRunExecutionData(workflow);
	// Listeners of Stop run in the process of the execution, wherever the test presses it.
	const cancel = AsyncResource.bind(() => execution.cancel());
	const timer = timeout > 0 ? setTimeout(cancel, timeout) : undefined;
	onStart?.(cancel, { ...stored, finished: false });
	try {
		const run = await execution;
		// A stopped node may fail with its own error; n8n still shows the execution as canceled.
		if (execution.isCanceled) run.status = 'canceled';
		witness.emit('execution', run);
		return withHelpers(run, { executionId, workflowData, environment });
	} finally {
		clearTimeout(timer);
	}
}

function keysIn({ credentials = {} }: Environment): string[] {
	return Object.values(credentials).flatMap(({ apiKey }) =>
		typeof apiKey === 'string' ? [apiKey.trim()] : [],
	);
}
