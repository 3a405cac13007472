import { jobIdField } from '../../../shared/n8n/parameters/jobId';
import { jobStatusOperation } from '../shared/jobStatus';

export const videoIdField = jobIdField('videoId', '{{ $json.id }}');

/** "Endpoints" 12. */
export const videoGet = jobStatusOperation(
	{
		resource: { name: 'Video', value: 'video' },
		action: 'Get status of video',
		description: 'Check once how far a video is',
	},
	'video',
	videoIdField,
);
