import type { Call } from '../../../nodes/shared/service/client/gateway';
import { UnusableResponse } from '../../../nodes/shared/service/client/response';
import { createdVideo, jobStatus } from '../../../nodes/shared/service/jobs/responses';
import { modelList } from '../../../nodes/shared/service/models/list';
import { endpoints } from '../../../nodes/shared/service/protocol/endpoints';
import { json, type Reply } from '../http/scriptedServer';

/** Calls as the operations make them: one that reads, one that orders a job, and one that polls this job. */
export const models = {
	endpoint: endpoints.models,
	purpose: 'list the models',
	parse: (response) => modelList(response).models,
} satisfies Call<unknown>;
export const create = {
	endpoint: endpoints.videoCreate,
	purpose: 'create the video',
	body: { model: 'vid-3.1', prompt: 'a cat' },
	parse: createdVideo,
} satisfies Call<unknown>;
export const poll = {
	endpoint: endpoints.video,
	purpose: 'get the job status',
	id: 'video_1',
	once: true,
	parse: jobStatus,
} satisfies Call<unknown>;

/** The create, for a user who has chosen that it is sent again when its response is lost. */
export const createAgainIfLost = { ...create, resendsLost: true };

/** A generation: it costs money, and it is sent again when its response is lost. */
export const chat: Call<unknown> = {
	endpoint: endpoints.chat,
	purpose: 'complete the chat',
	body: { model: 'chat-1' },
	parse: ({ json: body }) => {
		if (body === undefined) throw new UnusableResponse('is not JSON');
		return body;
	},
};

/** The responses of the service to the call that reads and to the one that orders a job. */
export const list = json({ object: 'list', data: [{ id: 'chat-1' }] });
export const created = json({ id: 'video_1', status: 'queued' });

/** An error response of the service, with these fields in addition to the usual ones. */
export const error = (status: number, fields: object, headers = {}): Reply =>
	json({ error: { message: 'a reason', type: 'a_type', param: null, ...fields } }, status, headers);
