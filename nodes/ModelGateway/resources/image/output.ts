import type { IBinaryData, IDataObject } from 'n8n-workflow';
import type { Call } from '../../../shared/gateway/client/gateway';
import { requestIdsOf, type ServiceResponse } from '../../../shared/gateway/client/response';
import {
	asGatewayError,
	GatewayError,
	type Remedy,
} from '../../../shared/gateway/errors/gatewayError';
import { linkCarriesKey } from '../../../shared/gateway/errors/requestErrors';
import {
	downloadImage,
	imageProblem,
	chargedImageError,
} from '../../../shared/gateway/images/download';
import { imageType, type ImageType } from '../../../shared/gateway/images/imageType';
import { readImages, type ImageResult } from '../../../shared/gateway/images/responses';
import { excerpt, withoutUndefined } from '../../../shared/gateway/json';
import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import { limits } from '../../../shared/gateway/protocol/limits';
import { fileOutput, type FileOutput } from '../../../shared/n8n/files/fileOutput';
import { storeError, storeProblem } from '../../../shared/n8n/files/storeError';
import type { ItemOutput, ItemRun } from '../../../shared/n8n/items/work';
import { numberField, textField } from '../../../shared/n8n/parameters/fieldKinds';

/** Where pictures go. */
export const imageOutput = fileOutput(
	`Whether to download the images at once. The links of some models expire after ${limits.imageUrlMinutes} minutes.`,
);

const { fields: rules } = endpoints.imageGenerate;

/** What generating and editing have in common, in the order in which it is shown and checked. */
export const imageOptions = [
	numberField({
		displayName: 'Number of Images',
		name: 'n',
		request: 'n',
		rule: { type: 'integer', min: 1 },
		default: 1,
		description: 'How many images to create. Each becomes an item.',
	}),
	textField({
		displayName: 'Size',
		name: 'size',
		request: 'size',
		placeholder: `e.g. ${rules.size.examples[0]}`,
		description: 'Width by height in pixels',
	}),
	textField({
		displayName: 'Aspect Ratio',
		name: 'aspectRatio',
		request: 'aspect_ratio',
		placeholder: `e.g. ${rules.aspect_ratio.examples[0]}`,
		description: 'Aspect ratio of the image, for models that support it',
	}),
] as const;

/** What is paid for: pictures, and the other fields of their response. */
export interface MadeImages {
	images: MadeImage[];
	fields: IDataObject;
	/** Of a chat: why each of its answers ended. */
	finishReasons?: unknown[];
}

/** A link to a picture, or the file when it came with the response. */
interface MadeImage {
	/** The picture's own fields. */
	json: IDataObject;
	url?: string;
	file?: IBinaryData;
	/** Whether the file was fetched by the link, because the user wanted it. */
	isDownloaded?: true;
	/** Why what came with the response is no picture. */
	problem?: string;
	/** Set when its link carried the key. */
	linkCarriesKey?: true;
	/** The execution that stored the file: in another one, it is stored anew. */
	execution: string;
}

/** Orders pictures; those that come with the response go to n8n's files at once. @throws GatewayError */
export async function requestImages(
	call: Omit<Call<unknown>, 'parse'>,
	{ gateway, context, hint }: ItemRun,
	parse: (response: ServiceResponse) => ImageResult = readImages,
): Promise<MadeImages> {
	const result = await gateway.call({ ...call, parse });
	const { images: pictures, missing, finishReasons } = result;
	if (missing.length > 0) {
		const entries = excerpt(JSON.stringify(missing));
		hint(`The response lacks ${missing.length} of its images: ${entries}`);
	}
	const execution = context.getExecutionId();
	const images = await Promise.all(
		pictures.map(async ({ bytes, mimeType, fields, ...picture }, index): Promise<MadeImage> => {
			const { url } = picture;
			const position = pictures.length > 1 ? { index } : {};
			const json = { ...fields, ...position } as IDataObject;
			const found = bytes && imageProblem(bytes, mimeType);
			// A file may hold what an answer may not show.
			const problem = found && gateway.redaction.text(found);
			if (!bytes || problem !== undefined) return { ...picture, json, problem, execution };
			try {
				return { json, file: await store({ bytes, mimeType }, index, context), execution };
			} catch (error) {
				// It is gone, and kept as such: the next try must not pay for another one unasked.
				return { json, url, problem: `could not be stored: ${storeProblem(error)}`, execution };
			}
		}),
	);
	return { images, fields: result.fields as IDataObject, finishReasons };
}

/** One item for each picture, with the fields of the response; one that cannot be had takes no other with it. */
export async function deliverImages(
	{ images, fields }: MadeImages,
	{ output, simplify }: { output: FileOutput; simplify: boolean },
	run: ItemRun,
): Promise<Array<ItemOutput | GatewayError>> {
	const { usage, ...others } = fields;
	const { created, model } = others;
	const common = simplify ? withoutUndefined({ created, model, ...requestIdsOf(others) }) : others;
	const deliverImage = async (image: MadeImage, index: number): Promise<ItemOutput> => {
		const file = await fileOf(image, index, { fields, download: output.download }, run);
		return {
			// The picture's own fields come first, and are not overwritten by those of the response.
			json: { ...image.json, ...common, ...image.json },
			...(file && { binary: { [output.binaryField]: file } }),
		};
	};
	const outputs = await Promise.all(
		images.map(async (image, index) => await deliverImage(image, index).catch(asGatewayError)),
	);
	// What all pictures used is told once, so that a sum over all items is true.
	const first = outputs.find((output): output is ItemOutput => !(output instanceof GatewayError));
	if (first && usage !== undefined) first.json = { usage, ...first.json };
	return outputs;
}

/** The file of a picture, which is kept with it, so that a retry does not fetch it again. */
async function fileOf(
	image: MadeImage,
	index: number,
	{ fields, download }: { fields: IDataObject; download: boolean },
	{ context, gateway }: ItemRun,
): Promise<IBinaryData | undefined> {
	const { json, url, file, isDownloaded, problem, execution } = image;
	const { helpers } = context;
	const own = context.getExecutionId();
	const known = {
		request_id: fields.request_id as string | undefined,
		partial_text: json.text as string | undefined,
	};
	if (image.linkCarriesKey) {
		throw chargedImageError(linkCarriesKey({ purpose: 'use the image' }).failure, known);
	}
	if (problem !== undefined) {
		throw chargedImageError(
			{ message: `Could not use the image: it ${problem}`, status: 200 },
			known,
		);
	}
	// It was wanted in an earlier try.
	if (isDownloaded && !download) return undefined;
	if (file?.id && execution !== own) {
		const bytes = await helpers.getBinaryStream(file.id);
		image.file = await helpers.prepareBinaryData(bytes, file.fileName, file.mimeType);
	} else if (!file && download && url !== undefined) {
		const received = await downloadImage(gateway, url, known);
		try {
			image.file = await store(received, index, context);
			image.isDownloaded = true;
		} catch (error) {
			const paid: Remedy = { about: 'imageIsPaid', hasLink: true, isLost: false };
			throw storeError(error, 'download the image', [paid]).with({ ...known, url });
		}
	}
	image.execution = own;
	// A copy, since later nodes may change what they are given.
	return image.file && { ...image.file };
}

/** Bytes that have been found to be a picture. */
async function store(
	{ bytes, mimeType: said }: { bytes: Buffer; mimeType?: string },
	index: number,
	{ helpers }: ItemRun['context'],
): Promise<IBinaryData> {
	const { extension, mimeType } = imageType(bytes, said) as ImageType;
	return await helpers.prepareBinaryData(
		bytes,
		`image${index === 0 ? '' : `-${index + 1}`}.${extension}`,
		mimeType,
	);
}
