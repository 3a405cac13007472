import type { INodeExecutionData } from 'n8n-workflow';
import { resumeExecution, type WorkflowRun } from '../harness';

/** One item for each job. */
export const itemsFor = (jobs: Array<{ id: string }>): INodeExecutionData[] =>
	jobs.map(({ id }, index) => ({ json: { task_id: id, name: `Video ${index}` } }));

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
