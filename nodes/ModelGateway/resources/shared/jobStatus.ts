import type { IDataObject } from 'n8n-workflow';
import { jobLinkCarriesKey } from '../../../shared/gateway/errors/jobErrors';
import { getJobStatus } from '../../../shared/gateway/jobs/requests';
import { videoFields } from '../../../shared/gateway/jobs/responses';
import type { Endpoint } from '../../../shared/gateway/protocol/endpoints';
import type { JobKind } from '../../../shared/gateway/protocol/jobs';
import type { Operation } from '../../../shared/n8n/operations/operation';
import type { Field } from '../../../shared/n8n/parameters/field';
import { jobIdField } from '../../../shared/n8n/parameters/jobId';
import { timeoutOption } from '../../../shared/n8n/parameters/options';

interface Request {
	id: string;
	timeout?: number;
}

/** The operation that polls one kind of job once. */
export function jobStatusOperation(job: {
	resource: Operation['resource'];
	action: string;
	description: string;
	id: Field<string>;
	endpoint: Endpoint;
	kind: JobKind;
}): Operation<Request> {
	const { resource, action, description, id: idField, endpoint, kind } = job;
	return {
		resource,
		name: 'Get Status',
		value: 'get',
		action,
		description,
		endpoint,
		fields: [idField],
		prepare: (parameters) => ({
			id: idField.read(parameters),
			timeout: timeoutOption.read(parameters.options),
		}),
		async perform({ id, timeout }, { gateway, reportJob }) {
			reportJob({ kind, id });
			const jobStatus = await getJobStatus(gateway, { kind, id, timeout });
			const { fields, phase, status, progress, linkCarriesKey } = jobStatus;
			reportJob({ kind, id, status, progress });
			if (linkCarriesKey && phase === 'succeeded') throw jobLinkCarriesKey({ kind, id, status });
			return [{ json: (kind === 'video' ? videoFields(fields, id) : fields) as IDataObject }];
		},
	};
}

/** The ID of a job in the item that a create gave. @param from expression that finds it there */
export const createdJobId = (displayName: string, name: string, from: string): Field<string> =>
	jobIdField({
		...{ displayName, name, from },
		description:
			'Taken from the item of the node that created the job, unless another one is given',
	});
