import { imageAmount } from '../../../shared/service/protocol/amount';
import { endpoints } from '../../../shared/service/protocol/endpoints';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import { booleanField, numberField, textField } from '../../../shared/n8n/parameters/fieldKinds';
import { modelField } from '../../../shared/n8n/parameters/model';
import { promptField } from '../shared/fields';
import {
	deliverImages,
	imageOptions,
	imageOutput,
	requestImages,
	type ImageRequest,
	type MadeImages,
} from './output';

const { fields: rules } = endpoints.imageGenerate;

const model = modelField();
const prompt = promptField({
	request: 'prompt',
	placeholder: 'e.g. A lighthouse in the fog, watercolour',
});

/** In the order in which they are shown and checked. */
const options = [
	...imageOptions,
	textField('quality', 'Quality', {
		request: 'quality',
		placeholder: `e.g. ${rules.quality.examples[0]}`,
	}),
	textField('style', 'Style', {
		request: 'style',
		placeholder: `e.g. ${rules.style.examples[0]}`,
	}),
	numberField('seed', 'Seed', {
		request: 'seed',
		rule: rules.seed,
		description: 'A whole number, for models that take a seed',
	}),
	booleanField('promptUpsampling', 'Prompt Upsampling', {
		request: 'prompt_upsampling',
		default: true,
		description: 'Whether to turn on prompt upsampling, for models that support it',
	}),
	numberField('safetyTolerance', 'Safety Tolerance', {
		request: 'safety_tolerance',
		rule: rules.safety_tolerance,
		description: 'A whole number, for models that support it',
	}),
];

/** "Endpoints" 8. */
export const imageGenerate: Operation<ImageRequest, MadeImages> = {
	resource: { name: 'Image', value: 'image' },
	name: 'Generate',
	value: 'generate',
	action: 'Generate image from text',
	description: 'Create images from a text prompt',
	endpoint: endpoints.imageGenerate,
	isOrder: true,
	fields: [model, prompt, ...imageOutput.fields],
	options,

	prepare(parameters) {
		const extra = new ExtraBody(parameters, 'stream');
		return {
			body: extra.body([model, prompt], options),
			output: imageOutput.read(parameters),
		};
	},

	perform: async ({ body }, run) =>
		await requestImages(
			{ endpoint: endpoints.imageGenerate, purpose: 'generate the image', body },
			run,
		),

	deliver: deliverImages,

	amount: ({ body }) => imageAmount(body),

	identity: ({ body }) => body,
};
