import { jobIdField } from '../../../shared/n8n/parameters/jobId';
import { jobStatusOperation } from '../shared/jobStatus';

/** "Endpoints" 2. */
export const referenceVideoGet = jobStatusOperation(
	{
		resource: { name: 'Reference Video', value: 'referenceVideo' },
		action: 'Get status of reference video',
		description: 'Check once how far a reference video is',
	},
	'task',
	jobIdField('taskId', '{{ $json.output?.task_id ?? $json.task_id }}'),
);
