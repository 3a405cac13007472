import type { IWorkflowBase, WorkflowExecuteMode } from 'n8n-workflow';
import path from 'node:path';
import type { JobKind } from '../../nodes/shared/gateway/protocol/jobs';

/** An execution as a version of n8n stored it, in which a release of this package had ordered videos. */
export interface StoredFixture {
	id: string;
	status: string;
	mode: WorkflowExecuteMode;
	/** When n8n was to take it up again. */
	waitTill: string | null;
	/** What it had ordered. */
	jobs: Array<{ id: string; kind: JobKind; prompt: string }>;
	workflowData: IWorkflowBase;
	/** As "flatted" writes it. */
	data: unknown[];
	/** What n8n's store of processed items held of its orders, while they were under way. */
	orders?: string[];
}

export const fixturesFolder = path.join(__dirname, '../fixtures/executions');
