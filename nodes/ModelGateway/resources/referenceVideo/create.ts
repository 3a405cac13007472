import type { IDataObject } from 'n8n-workflow';
import {
	ratioIsIgnored,
	referenceVideoProblems,
	type ReferenceVideoRequest,
} from '../../../shared/gateway/jobs/referenceVideo';
import { createdTask } from '../../../shared/gateway/jobs/responses';
import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import { referenceVideoModels } from '../../../shared/gateway/protocol/models';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { modelField } from '../../../shared/n8n/parameters/model';
import { promptField } from '../shared/fields';
import { ifAnswerLostOption } from '../shared/ifAnswerLost';
import { mediaFields, readMedia } from './media';

interface Request {
	body: ReferenceVideoRequest;
	/** The body as the user gave it: signed links differ from try to try, the files behind them do not. */
	identity: unknown;
	ratioIsIgnored: boolean;
	resendIfLost: boolean;
	timeout?: number;
}

const { 'alpha-1.1-r2v': alpha, 'beta-2.7-r2v': beta } = referenceVideoModels;
const { min: shortest, max: longest } = alpha.parameters.duration;

/** "Endpoints" 1. */
export const referenceVideoCreate: Operation<Request> = {
	resource: { name: 'Reference Video', value: 'referenceVideo' },
	name: 'Create',
	value: 'create',
	action: 'Create a reference video',
	description:
		'Start a video made from reference pictures and videos. Lead the result to a Wait for Video node.',
	endpoint: endpoints.referenceVideoCreate,
	fields: [
		modelField('beta-2.7-r2v'),
		promptField({
			placeholder: 'e.g. The person of image 1 walks along the beach at sunset',
			description:
				'What happens in the video. "Image 1", "image 2" are the reference images in their order, "video 1" the first reference video.',
			rows: 4,
		}),
		...mediaFields,
	],
	options: [
		{
			displayName: 'Duration (Seconds)',
			name: 'duration',
			type: 'number',
			default: 5,
			typeOptions: {
				minValue: shortest,
				maxValue: longest,
			},
			description: `Length of the video: ${shortest} to ${longest} seconds, and at most ${beta.maxDurationWithVideo} with a reference video`,
		},
		ifAnswerLostOption,
		{
			displayName: 'Prompt Extend',
			name: 'promptExtend',
			type: 'boolean',
			default: true,
			description: 'Whether the service rewrites the prompt for a better result',
		},
		{
			displayName: 'Ratio',
			name: 'ratio',
			type: 'options',
			options: (beta.parameters.ratio?.values ?? []).map((value) => ({ name: value, value })),
			default: '16:9',
			description: 'Shape of the picture, for beta models; a first frame decides it instead',
		},
		{
			displayName: 'Resolution',
			name: 'resolution',
			type: 'options',
			options: (beta.parameters.resolution.values ?? []).map((value) => ({ name: value, value })),
			default: '720P',
		},
		{
			displayName: 'Seed',
			name: 'seed',
			type: 'number',
			default: 0,
			typeOptions: {
				minValue: alpha.parameters.seed?.min,
				maxValue: alpha.parameters.seed?.max,
			},
			description: 'The same seed gives a similar video again',
		},
		{
			displayName: 'Watermark',
			name: 'watermark',
			type: 'boolean',
			default: false,
			description: 'Whether to add an AI-generated mark at the bottom right',
		},
	],

	async prepare(parameters, { gateway }) {
		const gatewayUrl = gateway.connection.baseUrl;
		const { media, identity } = await readMedia(parameters, gatewayUrl);
		const settings = {
			resolution: parameters.optionalText('resolution', 'Resolution'),
			ratio: parameters.optionalText('ratio', 'Ratio'),
			duration: parameters.optionalNumber('duration'),
			prompt_extend: parameters.optionalBoolean('promptExtend', 'Prompt Extend'),
			watermark: parameters.optionalBoolean('watermark', 'Watermark'),
			seed: parameters.optionalNumber('seed'),
		};
		const isSet = Object.entries(settings).filter(([, value]) => value !== undefined);
		const body: ReferenceVideoRequest = {
			model: parameters.chosen('model', 'Model'),
			input: { prompt: parameters.text('prompt', 'Prompt'), media },
			...(isSet.length > 0 && { parameters: Object.fromEntries(isSet) }),
		};
		parameters.problems.push(...referenceVideoProblems(body, gatewayUrl));

		const isIgnored = body.parameters?.ratio !== undefined && ratioIsIgnored(body);
		if (isIgnored) delete body.parameters?.ratio;
		return {
			body,
			identity: { ...body, input: { ...body.input, media: identity } },
			ratioIsIgnored: isIgnored,
			resendIfLost: parameters.optionalText('ifAnswerLost', 'If the Answer Is Lost') === 'resend',
			timeout: parameters.timeout,
		};
	},

	async perform(
		{ body, resendIfLost, timeout, ...request },
		{ gateway, reportJob: note, hint, item },
	) {
		if (request.ratioIsIgnored) {
			hint(`Item ${item}: Ratio was not sent, because the first frame decides the shape.`);
		}
		const { id, fields } = await gateway.call({
			endpoint: endpoints.referenceVideoCreate,
			purpose: 'create the reference video',
			...{ body, resendIfLost, timeout },
			parse: createdTask,
		});
		note({ kind: 'task', id });
		return [{ json: fields as IDataObject }];
	},

	identity: (request) => request.identity,
	resendsLost: (request) => request.resendIfLost,
};
