import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import { createdJobId, jobStatusOperation } from '../shared/jobStatus';

export const videoIdField = createdJobId('Video ID', 'videoId', '{{ $json.id }}');

/** "Endpoints" 12. */
export const videoGet = jobStatusOperation({
	resource: { name: 'Video', value: 'video' },
	action: 'Get a video',
	description: 'Ask once how far a video job is',
	id: videoIdField,
	endpoint: endpoints.video,
	kind: 'video',
});
