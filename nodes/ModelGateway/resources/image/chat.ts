import { receivedChatImages } from '../../../shared/service/images/responses';
import { asIndex, withoutUndefined } from '../../../shared/service/json';
import { imageAmount } from '../../../shared/service/protocol/amount';
import { aspectMarkers, endpoints } from '../../../shared/service/protocol/endpoints';
import type { Operation } from '../../../shared/n8n/operations/operation';
import {
	answersOption,
	maxTokensOption,
	temperatureOption,
} from '../../../shared/n8n/parameters/chatOptions';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import { choiceField } from '../../../shared/n8n/parameters/fieldKinds';
import type { ItemParameters } from '../../../shared/n8n/parameters/itemParameters';
import { modelField } from '../../../shared/n8n/parameters/model';
import { hintAtIncompleteAnswers } from '../shared/answers';
import { promptField } from '../shared/fields';
import {
	detailField,
	imagesField,
	messagesField,
	messagesToSend,
	type MessageInput,
} from '../shared/messages';
import {
	deliverImages,
	imageOutput,
	requestImages,
	type ImageRequest,
	type MadeImages,
} from './output';

/** The body has the messages only if Extra Body gives them. */
interface Request extends ImageRequest {
	messages?: MessageInput[];
}

const shapeOf = (marker: string) => marker.slice(1, -1);
const shapes = [...aspectMarkers.map(shapeOf), 'none'];

const model = modelField();
const prompt = promptField({
	request: 'messages[].content',
	placeholder: 'e.g. Both people from the images at one table',
});
const aspectMarker = choiceField('aspectMarker', 'Aspect Ratio', {
	request: 'messages[].content',
	rule: { type: 'string', values: shapes },
	options: shapes.map((value) => ({ name: value === 'none' ? 'None' : value, value })),
	default: 'none',
	description: 'Shape of the image. It is added to the end of the prompt.',
});
const images = imagesField({
	hasDetail: false,
	typeOptions: { sortable: true },
	description: 'Images to edit or combine',
});
const earlierMessages = messagesField(['assistant', 'system', 'user'], {
	earlier:
		'The messages before the prompt, such as a system message, or the earlier turns of this image',
	images: imagesField({ hasDetail: true, description: 'Images that this message had' }),
});
const bodyOptions = [answersOption, maxTokensOption, temperatureOption];

/** "Endpoints" 10. */
export const imageChat: Operation<Request, MadeImages> = {
	resource: { name: 'Image', value: 'image' },
	name: 'Chat',
	value: 'chat',
	action: 'Create or edit image by chat',
	description: 'Create, edit or combine images with a model that works through the chat endpoint',
	endpoint: endpoints.chat,
	isOrder: true,
	fields: [model, prompt, aspectMarker, images, earlierMessages, ...imageOutput.fields],
	options: [...bodyOptions, detailField],

	prepare(parameters) {
		const extra = new ExtraBody(parameters, 'stream');
		return {
			body: extra.body([model], bodyOptions),
			messages: extra.has('messages')
				? undefined
				: [...earlierMessages.read(parameters), promptMessage(parameters)],
			output: imageOutput.read(parameters),
		};
	},

	async perform({ body, messages: given }, run) {
		const messages = given && (await messagesToSend(given, run));
		const call = {
			endpoint: endpoints.chat,
			purpose: 'make the image',
			body: { ...body, ...(messages && { messages }) },
			// The images may be in the text.
			response: 'files',
		} as const;
		const count = asIndex(body.n);
		return await requestImages(
			call,
			run,
			async (response) => await receivedChatImages(response, run.gateway, { count }),
		);
	},

	async deliver(made, request, run) {
		// An image that arrived is whole, even if the response does not say why its answer ended.
		const reasons = (made.finishReasons ?? []).map((reason) => reason ?? undefined);
		hintAtIncompleteAnswers(run, reasons, { requested: request.body.n });
		return await deliverImages(made, request, run);
	},

	amount: ({ body }) => imageAmount(body),

	identity: ({ body, messages }) => ({ body, messages }),
};

function promptMessage(parameters: ItemParameters): MessageInput {
	const shape = aspectMarker.read(parameters);
	const end = aspectMarkers.find((marker) => shapeOf(marker) === shape) ?? '';
	const detail = detailField.read(parameters.options);
	const given = images.read(parameters);
	return {
		role: 'user',
		content: prompt.read(parameters) + end,
		images: given.map((image) => ({ ...image, ...withoutUndefined({ detail }) })),
		more: {},
	};
}
