import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { jobSight, videoFields } from '../../shared/gateway/answers';
import type { Endpoint, JobKind } from '../../shared/gateway/protocol';
import type { Operation } from '../../shared/n8n/operation';
import { jobIdOf } from '../../shared/n8n/jobs';

interface Request {
	id: string;
	timeout?: number;
}

/** The operation that polls one kind of job once. */
export function jobRead(job: {
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
		paid: false,
		fields: [jobIdField(idField)],
		prepare: (parameters) => ({
			id: jobIdOf(parameters, idField.name, idField.displayName),
			timeout: parameters.timeout,
		}),
		async perform({ id, timeout }, { gateway, note }) {
			note({ kind, id });
			const { fields, status, progress } = await gateway.call({
				endpoint,
				purpose: `ask how far the job ${id} is`,
				...{ id, timeout },
				parse: jobSight,
			});
			note({ kind, id, status, progress });
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
