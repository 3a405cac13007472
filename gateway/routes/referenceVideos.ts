import type { FastifyInstance } from 'fastify';
import { asyncHeader } from '../../nodes/shared/service/protocol/endpoints';
import { taskCreationStates, taskPollStates } from '../../nodes/shared/service/protocol/jobs';
import { limits } from '../../nodes/shared/service/protocol/limits';
import { invalidParameter, ServiceError } from '../errors';
import { readReferenceVideoOrder } from '../referenceVideoOrder';
import { accept, linkTo, type Service } from '../service';
import { serve, stateOf } from './endpoint';

/** "Endpoints" 1 and 2: passthrough tasks. */
export function referenceVideoRoutes(api: FastifyInstance, service: Service): void {
	serve(api, 'referenceVideoCreate', (request) => {
		const { name, value } = asyncHeader;
		if (request.headers[name.toLowerCase()] !== value) {
			throw invalidParameter(name, `sent as a header, with the value ${value}`);
		}
		return service.idempotencyKeys.answerOnce(request, () => {
			const job = accept(service, request, readReferenceVideoOrder(request.body));
			return {
				output: { task_id: job.id, task_status: stateOf(taskCreationStates, 'queued') },
				request_id: job.requestId,
			};
		});
	});

	serve(api, 'task', ({ params }) => {
		const job = service.jobs.find('task', params.id);
		const validMs = limits.taskIdHours * 3_600_000;
		if (!job || service.now() - job.createdAt > validMs) {
			// The specification shows neither the status nor the code of an unknown task.
			throw new ServiceError(404, 'task_not_found', 'no task has this id', { param: 'task_id' });
		}
		return {
			task_id: job.id,
			status: stateOf(taskPollStates, job.phase),
			progress: job.progress,
			result_url: job.video && linkTo(service, job),
			error: job.error,
		};
	});
}
