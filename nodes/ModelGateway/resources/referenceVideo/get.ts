import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import { createdJobIdField, jobStatusOperation } from '../shared/jobStatus';

/** "Endpoints" 2. */
export const referenceVideoGet = jobStatusOperation({
	resource: { name: 'Reference Video', value: 'referenceVideo' },
	action: 'Get status of reference video',
	description: 'Get the status of a reference video task once',
	id: createdJobIdField('taskId', '{{ $json.output?.task_id ?? $json.task_id }}'),
	endpoint: endpoints.task,
	kind: 'task',
});
