import type { IBinaryData, IDataObject, INodeProperties } from 'n8n-workflow';
import { asGatewayError, type GatewayError } from '../../shared/gateway/errors';
import { picturesOf, type PictureAnswer } from '../../shared/gateway/images';
import { defined, excerpt } from '../../shared/gateway/json';
import { pictureType, type PictureType } from '../../shared/gateway/pictureBytes';
import { fetchPicture, paidFor, pictureProblem } from '../../shared/gateway/pictureDownload';
import { limits } from '../../shared/gateway/protocol';
import type { Answer, Call } from '../../shared/gateway/transport';
import { fileOutputFields, type FileOutput } from '../../shared/n8n/fileOutput';
import type { ItemOutput, ItemRun } from '../../shared/n8n/operation';
import type { ItemParameters } from '../../shared/n8n/parameters';

/** Where pictures go. */
export const outputFields = fileOutputFields(
	`Whether to fetch the pictures at once; the links of some models live for ${limits.imageUrlMinutes} minutes only`,
);

export const aspectRatioOption: INodeProperties = {
	displayName: 'Aspect Ratio',
	name: 'aspectRatio',
	type: 'string',
	default: '',
	placeholder: 'e.g. 16:9',
	description: 'Shape of the picture, for models that take it',
};

export const imageCountOption: INodeProperties = {
	displayName: 'Number of Images',
	name: 'n',
	type: 'number',
	default: 1,
	typeOptions: { minValue: 1 },
	description: 'How many pictures to make; each becomes an item',
};

export const sizeOption: INodeProperties = {
	displayName: 'Size',
	name: 'size',
	type: 'string',
	default: '',
	placeholder: 'e.g. 1024x1024',
	description: 'Width by height in pixels',
};

/** What generating and editing send alike; unset fields are undefined. */
export const orderedFields = (parameters: ItemParameters) => ({
	model: parameters.chosen('model', 'Model'),
	prompt: parameters.text('prompt', 'Prompt'),
	n: parameters.checkedNumber('n', 'Number of Images', { type: 'integer', min: 1 }),
	size: parameters.optionalText('size', 'Size'),
	aspect_ratio: parameters.optionalText('aspectRatio', 'Aspect Ratio'),
});

/** A picture that is paid for: a link to it, or the file when it came with the answer. */
export interface MadePicture {
	json: IDataObject;
	url?: string;
	file?: IBinaryData;
	/** Why what came with the answer is no picture. */
	problem?: string;
	/** The execution that stored the file: in another one, it is stored anew. */
	execution: string;
}

/** Orders pictures; those that come with the answer go to n8n's files at once. @throws GatewayError */
export async function orderPictures(
	call: Omit<Call<unknown>, 'parse'>,
	{ gateway, context, item, hint }: ItemRun,
	parse: (answer: Answer) => PictureAnswer = picturesOf,
): Promise<MadePicture[]> {
	const { pictures, missing, ...common } = await gateway.call({ ...call, parse });
	if (missing.length > 0) {
		const entries = excerpt(JSON.stringify(missing));
		hint(`Item ${item}: the answer lacks ${missing.length} of its pictures: ${entries}`);
	}
	const execution = context.getExecutionId();
	return await Promise.all(
		pictures.map(async ({ url, bytes, mimeType, fields }, index): Promise<MadePicture> => {
			const place = pictures.length > 1 ? { index } : {};
			const json = { ...fields, ...place, ...defined(common) } as IDataObject;
			const problem = bytes && pictureProblem(bytes, mimeType);
			if (!bytes || problem !== undefined) return { json, url, problem, execution };
			return { json, file: await store({ bytes, mimeType }, index, context), execution };
		}),
	);
}

/** One item for each picture; one that cannot be had takes no other with it. */
export async function deliverPictures(
	made: MadePicture[],
	{ output }: { output: FileOutput },
	run: ItemRun,
): Promise<Array<ItemOutput | GatewayError>> {
	return await Promise.all(
		made.map(
			async (picture, index) =>
				await deliverPicture(picture, index, output, run).catch(asGatewayError),
		),
	);
}

/** Files are kept with the picture, so that a retry does not fetch it again. */
async function deliverPicture(
	picture: MadePicture,
	index: number,
	{ download, binaryField }: FileOutput,
	{ context, gateway }: ItemRun,
): Promise<ItemOutput> {
	const { json, url, file, problem, execution } = picture;
	const { helpers } = context;
	const own = context.getExecutionId();
	const { request_id, text: partial_text } = json as { request_id?: string; text?: string };
	const known = { request_id, partial_text };
	if (problem !== undefined) {
		throw paidFor({ message: `Could not use the picture: it ${problem}`, status: 200 }, known);
	}
	if (file?.id && execution !== own) {
		const bytes = await helpers.getBinaryStream(file.id);
		picture.file = await helpers.prepareBinaryData(bytes, file.fileName, file.mimeType);
	} else if (!file && download && url !== undefined) {
		const received = await fetchPicture(gateway.world, url, known);
		picture.file = await store(received, index, context);
	}
	picture.execution = own;
	return { json, ...(picture.file && { binary: { [binaryField]: picture.file } }) };
}

/** Bytes that have been found to be a picture. */
async function store(
	{ bytes, mimeType: said }: { bytes: Buffer; mimeType?: string },
	index: number,
	{ helpers }: ItemRun['context'],
): Promise<IBinaryData> {
	const { extension, mimeType } = pictureType(bytes, said) as PictureType;
	return await helpers.prepareBinaryData(
		bytes,
		`image${index === 0 ? '' : `-${index + 1}`}.${extension}`,
		mimeType,
	);
}
