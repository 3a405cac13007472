import type { INodeExecutionData } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import {
	resumeExecution,
	type RunOptions,
	runWorkflow,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { credentialFor } from './workflows';

export const itemsFor = (jobs: Array<{ id: string }>): INodeExecutionData[] =>
	jobs.map(({ id }, index) => ({ json: { task_id: id, name: `Video ${index}` } }));

/** Runs the workflow as n8n runs an active one, with one item for each job. */
export const startWaits = async (
	gateway: Gateway,
	workflow: WorkflowJson,
	jobs: Array<{ id: string }>,
	options: Partial<RunOptions> = {},
): Promise<WorkflowRun> =>
	await runWorkflow(workflow, {
		credentials: credentialFor(gateway),
		input: itemsFor(jobs),
		mode: 'trigger',
		...options,
	});

/**
 * Resumes a parked execution when it is due, as n8n does, after a trip through its database.
 * @param late how many milliseconds after that time
 */
export async function resume(run: WorkflowRun, late = 0): Promise<WorkflowRun> {
	expect(run.status).toBe('waiting');
	jest.setSystemTime(Math.max(Date.now(), (run.waitTill as Date).getTime() + late));
	return await resumeExecution(run);
}

/** The hints of the last run of Wait for Video. */
export const hintsOf = (run: WorkflowRun): string[] =>
	(run.data.resultData.runData['Wait for Video'].at(-1)?.hints ?? []).map(({ message }) => message);
