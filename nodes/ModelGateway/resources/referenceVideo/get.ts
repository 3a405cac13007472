import { createdJobIdField, jobStatusOperation } from '../shared/jobStatus';

/** "Endpoints" 2. */
export const referenceVideoGet = jobStatusOperation(
	{
		resource: { name: 'Reference Video', value: 'referenceVideo' },
		action: 'Get status of reference video',
		description: 'Check once how far a reference video is',
	},
	'task',
	createdJobIdField('taskId', '{{ $json.output?.task_id ?? $json.task_id }}'),
);
