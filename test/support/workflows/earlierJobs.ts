import type { JobKind } from '../../../nodes/shared/service/protocol/jobs';
import type { Gateway, Job } from '../../../gateway';

/**
 * A job that an earlier execution ordered. With a video, the job is completed.
 * @param id by default a new one
 */
export function earlierJob(gateway: Gateway, kind: JobKind, video?: Uint8Array, id?: string): Job {
	const order = {
		model: kind === 'task' ? 'beta-2.7-r2v' : 'vid-3.1',
		prompt: 'A boat',
		media: [],
	};
	const job = gateway.jobs.create(
		{ kind, ...order, shortSide: 720, ratio: '16:9', seconds: 2, watermark: false },
		'req_earlier',
		id,
	);
	if (video) gateway.jobs.complete(job.id, video);
	return job;
}

/** Tasks that are still running. */
export const earlierTasks = (gateway: Gateway, count: number): Job[] =>
	Array.from({ length: count }, () => earlierJob(gateway, 'task'));
