import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import { jobStatusOperation } from '../shared/jobStatus';

/** "Endpoints" 12. */
export const videoGet = jobStatusOperation({
	resource: { name: 'Video', value: 'video' },
	action: 'Get a video',
	description: 'Ask once how far a video job is',
	idField: { displayName: 'Video ID', name: 'videoId', from: '{{ $json.id }}' },
	endpoint: endpoints.video,
	kind: 'video',
});
