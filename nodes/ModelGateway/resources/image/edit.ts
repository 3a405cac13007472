import { isObject, jsonTextOf } from '../../../shared/service/json';
import { imageAmount } from '../../../shared/service/protocol/amount';
import { endpoints } from '../../../shared/service/protocol/endpoints';
import { itemImage, imageToSend } from '../../../shared/n8n/files/itemFile';
import { sourceChoices, urlOrFile, type Source } from '../../../shared/n8n/files/urlOrFile';
import type { ItemRun } from '../../../shared/n8n/items/work';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import type { FieldGroup } from '../../../shared/n8n/parameters/field';
import { choiceField, linkField, uncheckedText } from '../../../shared/n8n/parameters/fieldKinds';
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

/** The body has the text fields of the form. */
interface Request extends ImageRequest {
	image?: Source;
	mask?: Source;
}

const model = modelField();
const prompt = promptField({
	request: 'prompt',
	placeholder: 'e.g. Put the mug on a wooden table',
});
const image = sourceOf('image', 'Image', { default: 'binary' });
const mask = sourceOf('mask', 'Mask', {
	default: 'none',
	description: 'An image whose white area is edited',
});

/** "Endpoints" 9. */
export const imageEdit: Operation<Request, MadeImages> = {
	resource: { name: 'Image', value: 'image' },
	name: 'Edit',
	value: 'edit',
	action: 'Edit image',
	description: 'Edit an image, or only the part that a mask covers',
	endpoint: endpoints.imageEdit,
	isOrder: true,
	fields: [model, prompt, ...image.fields, ...mask.fields, ...imageOutput.fields],
	options: imageOptions,

	prepare(parameters) {
		const extra = new ExtraBody(parameters, 'stream');
		return {
			body: extra.body([model, prompt], imageOptions),
			image: extra.has('image') ? undefined : image.read(parameters),
			mask: extra.has('mask') ? undefined : mask.read(parameters),
			output: imageOutput.read(parameters),
		};
	},

	async perform({ body, image: source, mask: maskSource }, run) {
		const form = new FormData();
		// A form has no null.
		for (const [name, value] of Object.entries(body))
			if (value !== null) form.append(name, formText(value));
		if (source) await append(form, 'image', source, run);
		if (maskSource) await append(form, 'mask', maskSource, run);
		return await requestImages(
			{ endpoint: endpoints.imageEdit, purpose: 'edit the image', form },
			run,
		);
	},

	deliver: deliverImages,

	amount: ({ body }) => imageAmount(body),

	identity: (request) => ({ body: request.body, image: request.image, mask: request.mask }),
};

function sourceOf(
	request: 'image' | 'mask',
	label: string,
	menu: { default: 'binary' | 'none'; description?: string },
): FieldGroup<Source | undefined> {
	const nothing = menu.default === 'none' ? [{ name: 'None', value: 'none' }] : [];
	return urlOrFile({
		source: choiceField(`${request}Source`, `${label} Source`, {
			options: [...sourceChoices({ url: 'For models that support links' }), ...nothing],
			...menu,
		}),
		url: linkField(`${request}Url`, `${label} URL`, {
			request,
			placeholder: 'e.g. https://example.com/photo.png',
		}),
		file: uncheckedText(`${request}BinaryField`, `${label} Binary Field`, {
			request,
			default: request === 'image' ? 'data' : request,
			hint: `The name of the input field with the ${request}`,
		}),
		find: itemImage,
		links: {},
	});
}

/** A form field is a text, so objects and lists of Extra Body are sent as JSON. */
const formText = (value: unknown) =>
	isObject(value) || Array.isArray(value) ? jsonTextOf(value) : String(value);

/** Appends a link, or a file with the type and extension that its bytes show. */
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
	const { fileName = name } = source.file;
	const { bytes, mimeType: type, extension } = await imageToSend(source.file, context, item);
	const stem = fileName.replace(/\.\w{1,5}$/, '') || name;
	const sentName = extension === undefined ? fileName : `${stem}.${extension}`;
	form.append(name, new Blob([new Uint8Array(bytes)], { type }), sentName);
}
