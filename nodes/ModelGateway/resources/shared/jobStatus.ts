import { deepCopy, type IDataObject } from 'n8n-workflow';
import { isDataUrl } from '../../../shared/service/client/fileRequest';
import { jobLinkCarriesKey } from '../../../shared/service/errors/jobErrors';
import { getJobStatus } from '../../../shared/service/jobs/requests';
import { videoFields } from '../../../shared/service/jobs/responses';
import { jobKinds, type JobKind } from '../../../shared/service/protocol/jobs';
import { storeVideo } from '../../../shared/n8n/files/video';
import type { Operation } from '../../../shared/n8n/operations/operation';
import type { Field } from '../../../shared/n8n/parameters/field';

/** The operation that polls a job of one kind once. */
export function jobStatusOperation(
	menu: Pick<Operation, 'resource' | 'action' | 'description'>,
	kind: JobKind,
	idField: Field<string>,
): Operation<string> {
	return {
		...menu,
		name: 'Get Status',
		value: 'get',
		endpoint: jobKinds[kind].endpoint,
		fields: [idField],
		prepare(parameters, { reportJob }) {
			const id = idField.read(parameters);
			if (id !== '') reportJob({ kind, id });
			return id;
		},
		async perform(id, run) {
			const { gateway, sending, reportJob } = run;
			const job = await getJobStatus(gateway, { kind, id, ...sending });
			const { fields, phase, status, progress, link = '', linkCarriesKey } = job;
			reportJob({ kind, id, status, progress });
			if (linkCarriesKey && phase === 'succeeded') throw jobLinkCarriesKey({ kind, id, status });
			const json = kind === 'video' ? videoFields(fields, id) : fields;
			// Several items may share the response.
			const output = { json: deepCopy(json) as IDataObject };
			const source = { url: link, authenticated: false };
			if (!isDataUrl(source)) return [output];
			const purpose = `store the video of job ${id}`;
			const target = { binaryField: 'data', name: id };
			const { binary, hint } = await storeVideo(run, { source, purpose }, target);
			if (hint !== undefined) run.hint(hint);
			return [{ ...output, binary }];
		},
	};
}
