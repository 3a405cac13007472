import type { IBinaryData, INodeProperties } from 'n8n-workflow';
import { defined, type JsonObject } from '../../shared/gateway/json';
import { hasSeveralFrames, pictureType } from '../../shared/gateway/pictureBytes';
import { endpoints } from '../../shared/gateway/protocol';
import { readFileOutput, type FileOutput } from '../../shared/n8n/fileOutput';
import { modelField } from '../../shared/n8n/models';
import type { ItemRun, Operation } from '../../shared/n8n/operation';
import type { ItemParameters } from '../../shared/n8n/parameters';
import { promptField } from './commonFields';
import {
	aspectRatioOption,
	imageCountOption,
	sizeOption,
	deliverPictures,
	orderPictures,
	outputFields,
	type MadePicture,
} from './pictureOutput';

/** A picture to send: a link, or a file of the item. */
type Source = { url: string } | { file: IBinaryData };

interface Request {
	/** Form fields that are texts. */
	body: JsonObject;
	image?: Source;
	mask?: Source;
	output: FileOutput;
	timeout?: number;
}

const sources = [
	{ name: 'File of an Earlier Node', value: 'binary' },
	{ name: 'URL', value: 'url', description: 'For models that take links' },
];

const fileField = (displayName: string, name: string, source: string): INodeProperties => ({
	displayName,
	name,
	type: 'string',
	default: 'data',
	displayOptions: { show: { [source]: ['binary'] } },
	hint: 'The name of the input field with the picture',
});

const urlField = (displayName: string, name: string, source: string): INodeProperties => ({
	displayName,
	name,
	type: 'string',
	default: '',
	placeholder: 'e.g. https://example.com/photo.png',
	displayOptions: { show: { [source]: ['url'] } },
});

/** "Endpoints" 9. */
export const imageEdit: Operation<Request, MadePicture[]> = {
	resource: { name: 'Image', value: 'image' },
	name: 'Edit',
	value: 'edit',
	action: 'Edit an image',
	description: 'Change a picture, or the part of it that a mask marks',
	endpoint: endpoints.imageEdit,
	paid: true,
	fields: [
		modelField(),
		promptField({
			placeholder: 'e.g. Put the mug on a wooden table',
		}),
		{
			displayName: 'Image Source',
			name: 'imageSource',
			type: 'options',
			options: sources,
			default: 'binary',
		},
		fileField('Image Binary Field', 'imageBinaryField', 'imageSource'),
		urlField('Image URL', 'imageUrl', 'imageSource'),
		{
			displayName: 'Mask Source',
			name: 'maskSource',
			type: 'options',
			options: [...sources, { name: 'None', value: 'none' }],
			default: 'none',
			description: 'A picture of the same size whose white area is edited',
		},
		fileField('Mask Binary Field', 'maskBinaryField', 'maskSource'),
		urlField('Mask URL', 'maskUrl', 'maskSource'),
		...outputFields,
	],
	options: [aspectRatioOption, imageCountOption, sizeOption],

	async prepare(parameters) {
		return {
			body: {
				model: parameters.chosen('model', 'Model'),
				prompt: parameters.text('prompt', 'Prompt'),
				...defined({
					n: parameters.checkedNumber('n', 'Number of Images', { type: 'integer', min: 1 }),
					size: parameters.optionalText('size', 'Size'),
					aspect_ratio: parameters.optionalText('aspectRatio', 'Aspect Ratio'),
				}),
			},
			image: await readSource('image', 'Image', parameters),
			mask: await readSource('mask', 'Mask', parameters),
			output: readFileOutput(parameters),
			timeout: parameters.timeout,
		};
	},

	async perform({ body, image, mask, timeout }, run) {
		const form = new FormData();
		for (const [name, value] of Object.entries(body)) form.append(name, String(value));
		if (image) await append(form, 'image', image, run);
		if (mask) await append(form, 'mask', mask, run);
		return await orderPictures(
			{ endpoint: endpoints.imageEdit, purpose: 'edit the image', form, timeout },
			run,
		);
	},

	deliver: deliverPictures,

	identity: ({ body, image, mask }) => ({ body, image, mask }),
};

async function readSource(
	name: 'image' | 'mask',
	label: string,
	parameters: ItemParameters,
): Promise<Source | undefined> {
	const source = parameters.value(`${name}Source`, 'binary');
	if (source === 'none') return undefined;
	if (source === 'url') {
		const url = parameters.text(`${name}Url`, `${label} URL`).trim();
		if (url !== '' && !/^https?:\/\//i.test(url)) {
			parameters.report(`${label} URL`, 'must be a link that starts with https://');
		}
		return { url };
	}
	const field = `${label} Binary Field`;
	const file = parameters.binary(parameters.text(`${name}BinaryField`, field), field);
	if (!file) return undefined;
	const bytes = await parameters.context.helpers.getBinaryDataBuffer(parameters.item, file);
	// "Error codes seen": invalid_image_file. Its bytes show it before anything is paid.
	const isCalledJpeg = /\.jpe?g$/i.test(file.fileName ?? '') || file.mimeType === 'image/jpeg';
	if (isCalledJpeg && hasSeveralFrames(bytes)) {
		parameters.report(
			field,
			`leads to a file with several frames behind the name ${file.fileName ?? 'of a JPEG'}; save it as a plain JPEG or PNG`,
		);
	}
	return { file };
}

/** A file goes with its true type, and with a name that fits it. */
async function append(
	form: FormData,
	name: string,
	source: Source,
	{ context, item }: ItemRun,
): Promise<void> {
	if ('url' in source) {
		form.append(name, source.url);
		return;
	}
	const { file } = source;
	const bytes = await context.helpers.getBinaryDataBuffer(item, file);
	const type = pictureType(bytes);
	const stem = (file.fileName ?? name).replace(/\.\w{1,5}$/, '') || name;
	const fileName = type ? `${stem}.${type.extension}` : (file.fileName ?? name);
	form.append(name, new Blob([bytes], { type: type?.mimeType ?? file.mimeType }), fileName);
}
