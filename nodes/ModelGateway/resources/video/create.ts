import { createdVideo } from '../../../shared/service/jobs/responses';
import type { JsonObject } from '../../../shared/service/json';
import { videoAmount } from '../../../shared/service/protocol/amount';
import { endpoints } from '../../../shared/service/protocol/endpoints';
import { frameToVideoSuffix } from '../../../shared/service/protocol/models';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import { fieldOf } from '../../../shared/n8n/parameters/field';
import { modelField } from '../../../shared/n8n/parameters/model';
import { createJob } from '../shared/createJob';
import { promptField } from '../shared/fields';

// "Endpoints" 1: models of reference videos do not work here.
const model = modelField('vid-3.1', {
	refused: 'referenceVideo',
	hint: 'The model decides the shape: landscape or portrait. Give other settings in Extra Body (JSON), under Options.',
});

/** The specification shows no field for frames. */
const frameNotice = fieldOf(
	'notice',
	{
		displayName:
			'This model makes a video from frames. Add them in Extra Body (JSON), such as { "image": "https://…" }, by the name that your service documents.',
		name: 'frameNotice',
		displayOptions: { show: { model: [{ _cnd: { endsWith: frameToVideoSuffix } }] } },
	},
	() => undefined,
);

const prompt = promptField({
	request: 'prompt',
	placeholder: 'e.g. A paper boat sails down a rainy street',
	description: 'What happens in the video',
	typeOptions: { rows: 4 },
});

/** "Endpoints" 11. */
export const videoCreate: Operation<JsonObject> = {
	resource: { name: 'Video', value: 'video' },
	name: 'Create',
	value: 'create',
	action: 'Create video from text',
	description:
		'Start a job that creates a video from a text prompt. Connect the output to a Wait for Video node.',
	endpoint: endpoints.videoCreate,
	isOrder: true,
	fields: [model, frameNotice, prompt],

	prepare(parameters) {
		const extra = new ExtraBody(parameters);
		const body = extra.body([model, prompt]);
		const id = String(body.model);
		if (id.endsWith(frameToVideoSuffix) && Object.keys(extra.fields).length === 0) {
			parameters.hints.push(
				`Model ${id} makes videos from frames, and Extra Body (JSON) gave it none.`,
			);
		}
		return body;
	},

	async perform(body, run) {
		const create = {
			kind: 'video',
			endpoint: endpoints.videoCreate,
			purpose: 'create the video',
			body,
			parse: createdVideo,
			amount: videoAmount(body),
		} as const;
		return await createJob(create, run);
	},

	amount: videoAmount,
};
