import type { ExecutionError, INodeExecutionData, IRun, IWorkflowBase } from 'n8n-workflow';
import type { Readable } from 'node:stream';

import { readBinary, streamBinary } from './binary';
import type { Environment } from './environment';

interface Origin {
	executionId: string;
	workflowData: IWorkflowBase;
	environment: Environment;
}

/** A finished, failed, cancelled or waiting execution, with helpers for tests. */
export interface WorkflowRun extends IRun, Origin {
	/**
	 * The items that a node returned in one of its runs (-1: the last). Throws the node's error when it stopped the
	 * workflow there, or the reason why the node did not run.
	 */
	items(nodeName: string, from?: { output?: number; run?: number }): INodeExecutionData[];
	/** The error of the node's last run, even when the node is set to continue. */
	errorOf(nodeName: string): ExecutionError | undefined;
	/** The messages of the hints that all runs of a node showed. */
	hintsOf(nodeName: string): string[];
	binary(item: INodeExecutionData, field?: string): Promise<Buffer>;
	binaryStream(item: INodeExecutionData, field?: string): Promise<Readable>;
}

export function withHelpers(run: IRun, origin: Origin): WorkflowRun {
	const { runData, error } = run.data.resultData;
	return {
		...run,
		...origin,
		items(nodeName, { output = 0, run = 0 } = {}) {
			const task = runData[nodeName]?.at(run);
			if (!task) {
				const reason = error ? `: ${error.message}` : '';
				throw new Error(`Node "${nodeName}" did not run${reason}`);
			}
			// The engine stores errors as plain objects. A node that is set to continue has items as well.
			if (task.error && !task.data) throw Object.assign(new Error(task.error.message), task.error);
			return task.data?.main[output] ?? [];
		},
		errorOf: (nodeName) => runData[nodeName]?.at(-1)?.error,
		hintsOf: (nodeName) =>
			(runData[nodeName] ?? []).flatMap(({ hints = [] }) => hints.map(({ message }) => message)),
		binary: readBinary,
		binaryStream: streamBinary,
	};
}
