import type { IDataObject } from 'n8n-workflow';
import type { Call } from '../../../shared/service/client/gateway';
import { requestIdsOf } from '../../../shared/service/client/response';
import { asGatewayError, GatewayError } from '../../../shared/service/errors/gatewayError';
import { receivedImage } from '../../../shared/service/images/files';
import { readImages, type ImageResult } from '../../../shared/service/images/responses';
import { excerpt, valueAt, withoutUndefined, type JsonObject } from '../../../shared/service/json';
import { maxImages, maxImagesBytes } from '../../../shared/service/protocol/bounds';
import { endpoints } from '../../../shared/service/protocol/endpoints';
import { limits } from '../../../shared/service/protocol/limits';
import { fileOutput, type FileOutput } from '../../../shared/n8n/files/fileOutput';
import { storeProblem } from '../../../shared/n8n/files/storeError';
import type { ItemOutput, ItemRun } from '../../../shared/n8n/items/work';
import type { FieldGroup } from '../../../shared/n8n/parameters/field';
import { numberField, textField } from '../../../shared/n8n/parameters/fieldKinds';
import { simplifyField } from '../shared/fields';
import { fileOf, storeImage, type MadeImage } from './file';

interface ImageOutput extends FileOutput {
	simplify: boolean;
}

export interface ImageRequest {
	body: JsonObject;
	output: ImageOutput;
}

const file = fileOutput(
	`Whether to download the images at once. The links of some models expire after ${limits.imageUrlMinutes} minutes.`,
);

export const imageOutput: FieldGroup<ImageOutput> = {
	fields: [...file.fields, simplifyField],
	read: (scope) => ({ ...file.read(scope), simplify: simplifyField.read(scope) }),
};

const { fields: rules } = endpoints.imageGenerate;

/** Shared by Generate and Edit, in the order in which they are shown and checked. */
export const imageOptions = [
	numberField('n', 'Number of Images', {
		request: 'n',
		rule: { type: 'integer', min: 1 },
		default: 1,
		description: 'How many images to create. Each becomes an item.',
	}),
	textField('size', 'Size', {
		request: 'size',
		placeholder: `e.g. ${rules.size.examples[0]}`,
		description: 'Width by height in pixels',
	}),
	textField('aspectRatio', 'Aspect Ratio', {
		request: 'aspect_ratio',
		placeholder: `e.g. ${rules.aspect_ratio.examples[0]}`,
		description: 'Aspect ratio of the image, for models that support it',
	}),
];

/** The images of a response, and its other fields. n8n stores them with the execution, because they were charged. */
export interface MadeImages {
	images: MadeImage[];
	fields: IDataObject;
	/** The `finish_reason` of each answer of a chat. */
	finishReasons?: unknown[];
}

/** Orders images. Files that come with the response are stored in n8n at once. @throws GatewayError */
export async function requestImages(
	call: Omit<Call<unknown>, 'parse'>,
	{ gateway, context, sending, hint }: ItemRun,
	parse: Call<ImageResult>['parse'] = readImages,
): Promise<MadeImages> {
	const result = await gateway.call({ ...call, ...sending, parse });
	const { images: pictures, missing, otherLinks = [], finishReasons } = result;
	if (missing.length > 0) {
		const entries = excerpt(JSON.stringify(missing.slice(0, 10)));
		hint(`The response lacks ${missing.length} of its images: ${entries}`);
	}
	if (otherLinks.length > 0) {
		const links = excerpt(otherLinks.slice(0, 10).join(', '));
		hint(`The response has links that were not taken as images: ${links}`);
	}
	hintAtCount(result, Number(valueAt(call.body, 'n') ?? call.form?.get('n') ?? NaN), hint);
	const execution = context.getExecutionId();
	const images = await Promise.all(
		pictures.map(async ({ bytes, mimeType, fields, ...picture }, index): Promise<MadeImage> => {
			const position = pictures.length > 1 ? { index } : {};
			const json = { ...fields, ...position } as IDataObject;
			if (!bytes) return { ...picture, json, execution };
			const received = receivedImage(bytes, mimeType);
			if ('problem' in received) {
				// The problem may quote the file, and the file may contain the API key.
				const problem = gateway.redaction.text(received.problem);
				return { ...picture, json, problem, execution };
			}
			try {
				const file = await storeImage(bytes, received.type, { index, context });
				return { json, file, ...withoutUndefined({ hint: received.hint }), execution };
			} catch (error) {
				// The image is lost. Its entry stays, so that the next try does not order another one unasked.
				return { json, problem: `could not be stored: ${storeProblem(error)}`, execution };
			}
		}),
	);
	return { images, fields: result.fields as IDataObject, finishReasons };
}

/** Shows a hint when a response has another number of images than requested: they are what is charged. */
function hintAtCount(
	{ images, missing, finishReasons }: ImageResult,
	requested: number,
	hint: ItemRun['hint'],
): void {
	const count = images.length + missing.length;
	// An answer of a chat may have several images, and a missing answer has a hint of its own.
	const isExpected = finishReasons
		? count >= requested || finishReasons.length < requested
		: count === requested;
	if (isExpected || !Number.isInteger(requested)) return;
	const noun = requested === 1 ? 'image was' : 'images were';
	const verb = images.length === 1 ? 'was' : 'were';
	hint(`${requested} ${noun} requested, ${images.length} ${verb} returned.`);
}

/** One output for each image, with the fields of the response. An image that cannot be used fails alone. */
export async function deliverImages(
	{ images, fields }: MadeImages,
	{ output }: Pick<ImageRequest, 'output'>,
	run: ItemRun,
): Promise<Array<ItemOutput | GatewayError>> {
	const { usage, ...others } = fields;
	const { created, model } = others;
	const common = output.simplify
		? withoutUndefined({ created, model, ...requestIdsOf(others) })
		: others;
	const shared = { max: maxImagesBytes, left: maxImagesBytes };
	const settings = { fields, download: output.download, shared };
	const { imageDownloads } = run.gateway.runtime;
	const deliverImage = async (image: MadeImage, index: number): Promise<ItemOutput> => {
		const file = await imageDownloads.run(async () => await fileOf(image, index, settings, run));
		return {
			// The image's own fields come first, and the fields of the response do not replace them.
			json: { ...image.json, ...common, ...image.json },
			...(file && { binary: { [output.binaryField]: file } }),
		};
	};
	const outputs = await Promise.all(
		images.map(async (image, index) => await deliverImage(image, index).catch(asGatewayError)),
	);
	if (output.download && images.length > maxImages) {
		run.hint(
			`The response has ${images.length} images, and the first ${maxImages} were downloaded. The others have only their link.`,
		);
	}
	// The usage is that of all images, so only one output has it: the sum over all items is then correct.
	const first = outputs.find((output): output is ItemOutput => !(output instanceof GatewayError));
	if (first && usage !== undefined) first.json = { usage, ...first.json };
	return outputs;
}
