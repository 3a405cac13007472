import type { FastifyInstance } from 'fastify';
import { videoJobStates } from '../../nodes/shared/service/protocol/jobs';
import { videoModels } from '../../nodes/shared/service/protocol/models';
import { ServiceError } from '../errors';
import { readObject } from '../fields';
import { isFinal } from '../../nodes/shared/service/protocol/jobs';
import type { Job } from '../jobs';
import type { VideoOrder } from '../orders';
import { readPrompt } from '../prompts';
import { accept, linkTo, type Service } from '../service';
import { serve, stateOf } from './endpoint';

/** "Endpoints" 11 to 13: video jobs. The statuses of their error codes are not shown. */
export function videoRoutes(api: FastifyInstance, service: Service): void {
	const find = (id: string): Job => {
		const job = service.jobs.find('video', id);
		if (!job) throw new ServiceError(404, 'video_not_found', undefined, { param: 'video_id' });
		return job;
	};

	serve(api, 'videoCreate', (request) =>
		service.idempotencyKeys.answerOnce(request, () =>
			videoJob(accept(service, request, readOrder(request.body))),
		),
	);

	serve(api, 'video', ({ params }) => videoJob(find(params.id)));

	serve(api, 'videoContent', ({ params }) => {
		const job = find(params.id);
		if (job.video) return { url: linkTo(service, job) };
		// The status is 400, because the tables of the specification have no 409.
		if (!isFinal(job.phase)) throw new ServiceError(400, 'video_not_ready');
		throw new ServiceError(400, 'upstream_error', 'the job failed: there is no video');
	});
}

/** The specification shows only `id` and `status`. The other fields are likely ones. */
function videoJob({ id, order, createdAt, phase, error }: Job): Record<string, unknown> {
	return {
		id,
		object: 'video',
		model: order.model,
		created_at: Math.floor(createdAt / 1000),
		status: stateOf(videoJobStates, phase),
		error,
	};
}

/** The specification shows no other fields of the body. They are ignored. */
function readOrder(body: unknown): VideoOrder {
	const { model, prompt } = readObject(body, 'body');
	if (typeof model !== 'string' || !Object.hasOwn(videoModels, model)) {
		throw new ServiceError(400, 'invalid_model', undefined, { param: 'model' });
	}
	return {
		kind: 'video',
		model,
		prompt: readPrompt(prompt, 'prompt'),
		media: [],
		shortSide: 720,
		ratio: videoModels[model].startsWith('Portrait') ? '9:16' : '16:9',
		// The specification shows neither size nor length. "Fast" is about the time to make a video, not about its length.
		seconds: 5,
		watermark: false,
	};
}
