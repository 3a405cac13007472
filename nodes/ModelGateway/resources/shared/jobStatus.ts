import { deepCopy, type IDataObject } from 'n8n-workflow';
import { jobLinkCarriesKey } from '../../../shared/gateway/errors/jobErrors';
import { getJobStatus } from '../../../shared/gateway/jobs/requests';
import { videoFields } from '../../../shared/gateway/jobs/responses';
import type { Endpoint } from '../../../shared/gateway/protocol/endpoints';
import type { JobKind } from '../../../shared/gateway/protocol/jobs';
import type { ItemOutput, ItemRun } from '../../../shared/n8n/items/work';
import type { Operation } from '../../../shared/n8n/operations/operation';
import type { Field } from '../../../shared/n8n/parameters/field';
import { jobIdField } from '../../../shared/n8n/parameters/jobId';
import { timeoutOption } from '../../../shared/n8n/parameters/options';

interface Request extends Pick<ItemRun, 'reportJob'> {
	id: string;
	timeout?: number;
}

/** The operation that polls a job of one kind once. */
export function jobStatusOperation(job: {
	resource: Operation['resource'];
	action: string;
	description: string;
	id: Field<string>;
	endpoint: Endpoint;
	kind: JobKind;
}): Operation<Request, ItemOutput[]> {
	const { resource, action, description, id: idField, endpoint, kind } = job;
	/** One poll for all requests, which have the same job. */
	const poll = async (requests: Request[], { gateway }: ItemRun): Promise<ItemOutput[][]> => {
		const [{ id }] = requests;
		const defaultTimeout = endpoint.timeoutSeconds * 1000;
		const timeouts = requests.map((request) => request.timeout ?? defaultTimeout);
		const timeout = timeouts.reduce((one, other) => Math.max(one, other));
		const job = await getJobStatus(gateway, { kind, id, timeout });
		const { fields, phase, status, progress, linkCarriesKey } = job;
		const json = kind === 'video' ? videoFields(fields, id) : fields;
		for (const { reportJob } of requests) reportJob({ kind, id, status, progress });
		if (linkCarriesKey && phase === 'succeeded') throw jobLinkCarriesKey({ kind, id, status });
		return requests.map(() => [{ json: deepCopy(json) as IDataObject }]);
	};
	return {
		resource,
		name: 'Get Status',
		value: 'get',
		action,
		description,
		endpoint,
		fields: [idField],
		prepare(parameters, { reportJob }) {
			const id = idField.read(parameters);
			if (id !== '') reportJob({ kind, id });
			return { id, timeout: timeoutOption.read(parameters.options), reportJob };
		},
		perform: async (request, run) => (await poll([request], run))[0],
		batch: {
			key: ({ id }) => id,
			size: () => 1,
			maxSize: () => Infinity,
			perform: poll,
		},
	};
}

/** The ID of a job, by default read from the item of a create. @param from expression that finds it there */
export const createdJobIdField = (displayName: string, name: string, from: string): Field<string> =>
	jobIdField({
		...{ displayName, name, from },
		description:
			'Taken from the item of the node that created the job, unless another one is given',
	});
