import type { IExecuteFunctions } from 'n8n-workflow';
import type { JobSummary } from '../../gateway/errors/jobSummary';

/** Few, since n8n allows ten names in one execution, and they are the user's. */
const names = ['video_jobs', 'video_jobs_2', 'video_jobs_3'];

/** The longest value that n8n takes without a complaint in its log. */
const maxLength = 255;

/**
 * Adds the ID of a new job to what n8n calls the highlighted or custom data of an execution. n8n stores it even when
 * the execution is stopped, shows it in the execution, and can filter its list by it. What is there stays there, and
 * an ID for which there is no room is left out.
 */
export function highlightJob(context: IExecuteFunctions, { id }: JobSummary): void {
	try {
		const customData = customDataOf(context);
		for (const name of names) {
			const before: string | undefined = customData.get(name);
			const value = before ? `${before}, ${id}` : id;
			if (value.length > maxLength) continue;
			customData.set(name, value);
			return;
		}
	} catch {
		// Some contexts have no such data; the output and the log name the job all the same.
	}
}

/** n8n 1 gives it to expressions only. */
function customDataOf(context: IExecuteFunctions): IExecuteFunctions['customData'] {
	if (typeof context.customData?.set === 'function') return context.customData;
	const { customData } = context.getWorkflowDataProxy(0).$execution as typeof context;
	return customData;
}
