import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { getJobStatus } from '../../../shared/gateway/jobs/requests';
import { videoFields } from '../../../shared/gateway/jobs/responses';
import type { Endpoint } from '../../../shared/gateway/protocol/endpoints';
import type { JobKind } from '../../../shared/gateway/protocol/jobs';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { jobIdOf } from '../../../shared/n8n/parameters/jobId';

interface Request {
	id: string;
	timeout?: number;
}

/** The operation that polls one kind of job once. */
export function jobStatusOperation(job: {
	resource: Operation['resource'];
	action: string;
	description: string;
	idField: JobIdField;
	endpoint: Endpoint;
	kind: JobKind;
}): Operation<Request> {
	const { resource, action, description, idField, endpoint, kind } = job;
	return {
		resource,
		name: 'Get',
		value: 'get',
		action,
		description,
		endpoint,
		fields: [jobIdField(idField)],
		prepare: (parameters) => ({
			id: jobIdOf(parameters, idField.name, idField.displayName),
			timeout: parameters.timeout,
		}),
		async perform({ id, timeout }, { gateway, reportJob }) {
			reportJob({ kind, id });
			const { fields, status, progress } = await getJobStatus(gateway, { kind, id, timeout });
			reportJob({ kind, id, status, progress });
			return [{ json: (kind === 'video' ? videoFields(fields, id) : fields) as IDataObject }];
		},
	};
}

export interface JobIdField {
	displayName: string;
	name: string;
	/** Expression that finds the id in the item of a create. */
	from: string;
}

export function jobIdField({ displayName, name, from }: JobIdField): INodeProperties {
	const found = `=${from}`;
	return {
		displayName,
		name,
		type: 'string',
		default: found,
		required: true,
		description:
			'Taken from the item of the node that created the job, unless another one is given',
	};
}
