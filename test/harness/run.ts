import {
	createRunExecutionData,
	type INodeExecutionData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import { execute, type ExecutionOptions } from './execution';
import { nodeTypes } from './registry';
import type { WorkflowRun } from './result';
import { completeWorkflow, createWorkflow, type WorkflowJson } from './workflow';

export interface RunOptions extends ExecutionOptions {
	/** The input of the start node or, when it is a trigger, its output. */
	input?: INodeExecutionData[];
	/** Default: the trigger that n8n finds, or the only node. */
	startNode?: string;
	/** `manual` (default): as with the editor's Execute button. Any other: as an active workflow, without pinned data. */
	mode?: WorkflowExecuteMode;
	/** Whether the execution and its Retries share a token in their resume links; n8n 1 gives none. Default: true. */
	hasResumeToken?: boolean;
}

/**
 * Runs a workflow to its end and returns the execution, even when it failed or was cancelled: see `status`. Throws when
 * n8n would not start it, for example because a required parameter is missing.
 */
export async function runWorkflow(
	json: WorkflowJson,
	options: RunOptions = {},
): Promise<WorkflowRun> {
	const { input, startNode, mode = 'manual', hasResumeToken = true, ...executionOptions } = options;
	const workflowData = completeWorkflow(json, Object.keys(options.credentials ?? {}));
	const workflow = createWorkflow(workflowData);
	const start = startNode === undefined ? workflow.getStartNode() : workflow.getNode(startNode);
	if (!start) {
		throw new Error(
			startNode === undefined
				? 'The workflow has no trigger: name the node to start from (startNode)'
				: `The workflow has no node "${startNode}"`,
		);
	}

	// In a manual run, a trigger makes its own output, unless it has pinned data.
	const { trigger, poll } = nodeTypes.getByNameAndVersion(start.type, start.typeVersion);
	const pinnedInput = input && (trigger || poll) ? { [start.name]: input } : {};
	const data = createRunExecutionData({
		executionData: {
			nodeExecutionStack: [
				{ node: start, data: { main: [input ?? [{ json: {} }]] }, source: null },
			],
		},
		resultData: { pinData: mode === 'manual' ? { ...json.pinData, ...pinnedInput } : undefined },
	});
	if (!hasResumeToken) delete data.resumeToken;
	return await execute({ workflowData, data, mode }, executionOptions);
}
