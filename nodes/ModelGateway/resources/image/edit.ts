import type { IBinaryData, INodeProperties } from 'n8n-workflow';
import { imageType } from '../../../shared/gateway/images/imageType';
import { withoutUndefined, type JsonObject } from '../../../shared/gateway/json';
import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import { readFileOutput, type FileOutput } from '../../../shared/n8n/files/fileOutput';
import type { ItemRun } from '../../../shared/n8n/items/work';
import type { Operation } from '../../../shared/n8n/operations/operation';
import type { ItemParameters } from '../../../shared/n8n/parameters/itemParameters';
import { modelField } from '../../../shared/n8n/parameters/model';
import { promptField } from '../shared/fields';
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
export const imageEdit: Operation<Request, MadeImage[]> = {
	resource: { name: 'Image', value: 'image' },
	name: 'Edit',
	value: 'edit',
	action: 'Edit an image',
	description: 'Change a picture, or the part of it that a mask marks',
	endpoint: endpoints.imageEdit,
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

	prepare(parameters) {
		return {
			body: withoutUndefined(requestFields(parameters)),
			image: readSource('image', 'Image', parameters),
			mask: readSource('mask', 'Mask', parameters),
			output: readFileOutput(parameters),
			timeout: parameters.timeout,
		};
	},

	async perform({ body, image, mask, timeout }, run) {
		const form = new FormData();
		for (const [name, value] of Object.entries(body)) form.append(name, String(value));
		if (image) await append(form, 'image', image, run);
		if (mask) await append(form, 'mask', mask, run);
		return await requestImages(
			{ endpoint: endpoints.imageEdit, purpose: 'edit the image', form, timeout },
			run,
		);
	},

	deliver: deliverImages,

	identity: ({ body, image, mask }) => ({ body, image, mask }),
};

function readSource(
	name: 'image' | 'mask',
	label: string,
	parameters: ItemParameters,
): Source | undefined {
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
	const file = parameters.picture(parameters.text(`${name}BinaryField`, field), field);
	return file && { file };
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
	const { fileName = name } = file;
	const bytes = await context.helpers.getBinaryDataBuffer(item, file);
	const known = imageType(bytes);
	const { mimeType: type } = known ?? file;
	const stem = fileName.replace(/\.\w{1,5}$/, '') || name;
	form.append(name, new Blob([bytes], { type }), known ? `${stem}.${known.extension}` : fileName);
}
