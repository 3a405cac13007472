import { Container } from '@n8n/di';
import { BinaryDataConfig } from 'n8n-core';
import type {
	ExecutionStatus,
	IRunExecutionData,
	IWorkflowBase,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { Environment } from './environment';
import { withHelpers, type WorkflowRun } from './result';

interface Row {
	id: string;
	status: string;
	mode: WorkflowExecuteMode;
	/** An ISO date. */
	waitTill: string | null;
	workflowData: IWorkflowBase;
	/** In the format of the library "flatted". */
	data: unknown[];
}

/** An execution that another n8n has stored, for a resume or a Retry here. */
export async function storedExecution(row: Row, environment: Environment): Promise<WorkflowRun> {
	const { fromJSON } = await import('flatted');
	const { id: executionId, workflowData, mode } = row;
	const run = {
		data: fromJSON(row.data as never) as IRunExecutionData,
		mode,
		startedAt: new Date(),
		status: row.status as ExecutionStatus,
		...(row.waitTill !== null && { waitTill: new Date(row.waitTill) }),
		storedAt: 'db' as const,
	};
	return withHelpers(run, { executionId, workflowData, environment });
}

/** Puts a file where n8n looks for it. @param id the ID of the file in an item */
export async function storeFile(id: string, bytes: Uint8Array): Promise<void> {
	const file = path.join(
		Container.get(BinaryDataConfig).localStoragePath,
		id.replace(/^[^:]*:/, ''),
	);
	await mkdir(path.dirname(file), { recursive: true });
	await writeFile(file, bytes);
}
