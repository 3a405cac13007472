import { readChatImages } from '../../../shared/gateway/images/responses';
import { aspectMarkers, endpoints } from '../../../shared/gateway/protocol/endpoints';
import { readFileOutput, type FileOutput } from '../../../shared/n8n/files/fileOutput';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { modelField } from '../../../shared/n8n/parameters/model';
import { promptField } from '../shared/fields';
import { imageSourceFields, readImages, sentMessage, type MessageInput } from '../shared/messages';
import { deliverImages, requestImages, outputFields, type MadeImage } from './output';

interface Request {
	model: string;
	message: MessageInput;
	output: FileOutput;
	timeout?: number;
}

/** "Endpoints" 10. */
export const imageChat: Operation<Request, MadeImage[]> = {
	resource: { name: 'Image', value: 'image' },
	name: 'Chat',
	value: 'chat',
	action: 'Make or edit an image by chat',
	description: 'Make, edit or join pictures with a model that is reached through the chat endpoint',
	endpoint: endpoints.chat,
	fields: [
		modelField(),
		promptField({
			placeholder: 'e.g. Both people of the pictures at one table',
		}),
		{
			displayName: 'Aspect Marker',
			name: 'aspectMarker',
			type: 'options',
			options: [
				...aspectMarkers.map((marker) => ({
					name: marker.slice(1, -1),
					value: marker.slice(1, -1),
				})),
				{ name: 'None', value: 'none' },
			],
			default: 'none',
			description: 'Shape of the picture; it is put at the very end of the prompt',
		},
		{
			displayName: 'Images',
			name: 'images',
			type: 'fixedCollection',
			typeOptions: { multipleValues: true, sortable: true },
			placeholder: 'Add Image',
			default: {},
			description: 'Pictures to edit or to join',
			options: [{ displayName: 'Image', name: 'values', values: imageSourceFields }],
		},
		...outputFields,
	],

	prepare(parameters) {
		const marker = parameters.value('aspectMarker', 'none');
		const end = aspectMarkers.find((known) => known.slice(1, -1) === marker) ?? '';
		if (marker !== 'none' && end === '') {
			parameters.report('Aspect Marker', 'must be none, 2:3, 3:2 or 1:1');
		}
		const images = readImages(parameters.entries('images.values'), parameters, '');
		return {
			model: parameters.chosen('model', 'Model'),
			message: { role: 'user', content: parameters.text('prompt', 'Prompt') + end, images },
			output: readFileOutput(parameters),
			timeout: parameters.timeout,
		};
	},

	async perform({ model, message, timeout }, run) {
		const body = { model, messages: [await sentMessage(message, run.context, run.item)] };
		const call = { endpoint: endpoints.chat, purpose: 'make the image', body, timeout };
		return await requestImages(call, run, readChatImages);
	},

	deliver: deliverImages,

	identity: ({ model, message }) => ({ model, message }),
};
