import type { IWorkflowBase, WorkflowExecuteMode } from 'n8n-workflow';
import path from 'node:path';
import type { JobKind } from '../../../nodes/shared/service/protocol/jobs';

/** An execution as a version of n8n stored it, after a release of this package had ordered videos in it. */
export interface StoredFixture {
	id: string;
	status: string;
	mode: WorkflowExecuteMode;
	/** When n8n resumes it. */
	waitTill: string | null;
	jobs: Array<{ id: string; kind: JobKind; prompt: string }>;
	workflowData: IWorkflowBase;
	/** In the format of the library "flatted". */
	data: unknown[];
	/** Its orders in n8n's store of processed items, while they were under way. */
	orders?: string[];
}

export const fixturesFolder = path.join(__dirname, '../../fixtures/executions');
