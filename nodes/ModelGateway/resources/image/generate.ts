import { withoutUndefined, type JsonObject } from '../../../shared/gateway/json';
import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import { readFileOutput, type FileOutput } from '../../../shared/n8n/files/fileOutput';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { modelField } from '../../../shared/n8n/parameters/model';
import { extraBodyOption, promptField } from '../shared/fields';
import {
	aspectRatioOption,
	deliverImages,
	imageCountOption,
	requestFields,
	requestImages,
	outputFields,
	sizeOption,
	type MadeImage,
} from './output';

interface Request {
	body: JsonObject;
	output: FileOutput;
	timeout?: number;
}

/** "Endpoints" 8. */
export const imageGenerate: Operation<Request, MadeImage[]> = {
	resource: { name: 'Image', value: 'image' },
	name: 'Generate',
	value: 'generate',
	action: 'Generate an image',
	description: 'Make pictures from a text',
	endpoint: endpoints.imageGenerate,
	fields: [
		modelField(),
		promptField({
			placeholder: 'e.g. A lighthouse in the fog, watercolour',
		}),
		...outputFields,
	],
	options: [
		aspectRatioOption,
		extraBodyOption,
		imageCountOption,
		{
			displayName: 'Prompt Upsampling',
			name: 'promptUpsampling',
			type: 'boolean',
			default: true,
			description: 'Whether the service enriches the prompt, for models that take it',
		},
		{
			displayName: 'Quality',
			name: 'quality',
			type: 'string',
			default: '',
			placeholder: 'e.g. hd',
		},
		{
			displayName: 'Safety Tolerance',
			name: 'safetyTolerance',
			type: 'number',
			default: 2,
			description: 'How much is let through, for models that take it',
		},
		{
			displayName: 'Seed',
			name: 'seed',
			type: 'number',
			default: 0,
			description: 'The same seed gives a similar picture again',
		},
		sizeOption,
		{
			displayName: 'Style',
			name: 'style',
			type: 'string',
			default: '',
			placeholder: 'e.g. vivid',
		},
	],

	prepare: (parameters) => ({
		body: {
			...withoutUndefined({
				...requestFields(parameters),
				quality: parameters.optionalText('quality', 'Quality'),
				style: parameters.optionalText('style', 'Style'),
				seed: parameters.checkedNumber('seed', 'Seed', { type: 'integer' }),
				prompt_upsampling: parameters.optionalBoolean('promptUpsampling', 'Prompt Upsampling'),
				safety_tolerance: parameters.checkedNumber('safetyTolerance', 'Safety Tolerance', {
					type: 'integer',
				}),
			}),
			...parameters.optionalObject('extraBody', 'Extra Body (JSON)'),
		},
		output: readFileOutput(parameters),
		timeout: parameters.timeout,
	}),

	async perform({ body, timeout }, run) {
		return await requestImages(
			{ endpoint: endpoints.imageGenerate, purpose: 'generate the image', body, timeout },
			run,
		);
	},

	deliver: deliverImages,

	identity: ({ body }) => body,
};
