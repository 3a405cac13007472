import type { IDataObject } from 'n8n-workflow';
import { linkTo } from '../../../shared/service/client/fileRequest';
import { withOwnFields } from '../../../shared/service/client/response';
import { getVideoContent } from '../../../shared/service/jobs/requests';
import { endpoints } from '../../../shared/service/protocol/endpoints';
import { jobCollected } from '../../../shared/n8n/execution/orderedJobs';
import { fileOutput, shouldDownload, type FileOutput } from '../../../shared/n8n/files/fileOutput';
import { severalVideosHint, storeVideo } from '../../../shared/n8n/files/video';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { videoIdField } from './get';

interface Request {
	id: string;
	output: FileOutput;
}

const file = fileOutput('Whether to download the file. When off, the output has only its link.');

/** "Endpoints" 13. */
export const videoGetContent: Operation<Request> = {
	resource: { name: 'Video', value: 'video' },
	name: 'Get Content',
	value: 'getContent',
	action: 'Download finished video',
	description: 'Download the file of a finished video',
	endpoint: endpoints.videoContent,
	fields: [videoIdField, ...file.fields],

	prepare: (parameters) => ({
		id: videoIdField.read(parameters),
		output: file.read(parameters),
	}),

	async perform({ id, output }, run) {
		run.reportJob({ kind: 'video', id });
		const getContent = async () => await getVideoContent(run.gateway, { id, ...run.sending });
		const { source, fields } = await getContent();
		const json = withOwnFields(fields, { id, url: linkTo(source) }) as IDataObject;
		const several = severalVideosHint(id, { fields, url: source.url });
		if (several !== undefined) run.hint(several);
		if (!shouldDownload(output, source, run.context)) {
			jobCollected(id);
			return [{ json }];
		}
		const refresh = async () => (await getContent()).source;
		const purpose = `download the video ${id}`;
		const target = { ...output, name: id };
		const { binary, hint } = await storeVideo(run, { source, refresh, purpose }, target);
		jobCollected(id);
		if (hint !== undefined) run.hint(hint);
		return [{ json, binary }];
	},
};
