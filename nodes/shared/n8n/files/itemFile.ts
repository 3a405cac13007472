import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { hasSeveralFrames, imageType } from '../../gateway/images/imageType';
import { firstImage } from '../../gateway/images/jpeg';
import { isTool } from '../agent/tool';
import { ItemParameters, type Scope } from '../parameters/itemParameters';

/** A file of the item. Undefined, with a problem reported, when there is none. @param field label for its problems */
export function itemFile(name: string, field: string, scope: Scope): IBinaryData | undefined {
	const { context, item } = scope.parameters;
	const files = context.getInputData()[item]?.binary ?? {};
	if (Object.hasOwn(files, name)) return files[name];
	if (isTool(context.getNode())) {
		const problem = 'names a file, but an agent hands no files to its tools: give a link';
		scope.report(field, problem, 'unsendable');
		return undefined;
	}
	const names = Object.keys(files);
	const has = names.length === 0 ? 'it has no files at all' : `it has ${names.join(', ')}`;
	scope.report(field, `names "${name}", but this item has no such file (${has})`, 'unsendable');
	return undefined;
}

/** A file of the item that must be an image. */
export function itemImage(name: string, field: string, scope: Scope): IBinaryData | undefined {
	const file = itemFile(name, field, scope);
	if (file) scope.parameters.checks.push(async () => await checkImage(file, field, scope));
	return file;
}

/** Reports an image that the service would refuse ("Error codes seen", invalid_image_file). */
async function checkImage(file: IBinaryData, field: string, scope: Scope): Promise<void> {
	const { context, item } = scope.parameters;
	const bytes = await context.helpers.getBinaryDataBuffer(item, file);
	const image = firstImage(bytes);
	const isCut = image !== undefined && image !== bytes;
	if (isCut && !scope.parameters.skipsRules) hintAtOtherImages(file, scope);
	const { fileName = 'of a JPEG' } = file;
	const isCalledJpeg = /\.jpe?g$/i.test(fileName) || file.mimeType === 'image/jpeg';
	// An image may have a format that only n8n's type shows.
	if (!imageType(bytes) && !file.mimeType.startsWith('image/')) {
		scope.report(field, `is no image (it is ${file.mimeType})`);
	} else if (isCalledJpeg && !image && hasSeveralFrames(bytes)) {
		scope.report(
			field,
			`leads to a file with several frames behind the name ${fileName}; save it as a plain JPEG or PNG`,
		);
	}
}

/** Says that only the first image of a JPEG is sent, because the service may refuse a JPEG with several. */
export function hintAtOtherImages(
	{ fileName = 'The JPEG' }: IBinaryData,
	{ parameters }: Scope,
): void {
	parameters.hints.push(
		`${fileName} holds more than one image, or a clip; only its first image was sent.`,
	);
}

/** An image as it is sent: with the type that its bytes show, and the file extension of that type where it is known. */
interface ImageToSend {
	bytes: Buffer;
	mimeType: string;
	extension?: string;
}

/** Loads an image to send. Of a JPEG with several images, only the first is sent, unless the user skips checks. */
export async function imageToSend(
	file: IBinaryData,
	context: IExecuteFunctions,
	item: number,
): Promise<ImageToSend> {
	const whole = await context.helpers.getBinaryDataBuffer(item, file);
	const { skipsRules } = new ItemParameters(context, item);
	const bytes = (skipsRules ? undefined : firstImage(whole)) ?? whole;
	return { bytes, mimeType: file.mimeType, ...imageType(bytes) };
}

/** An image as a data URL. */
export async function dataUrlOf(
	file: IBinaryData,
	context: IExecuteFunctions,
	item: number,
): Promise<string> {
	const { bytes, mimeType } = await imageToSend(file, context, item);
	return `data:${mimeType};base64,${bytes.toString('base64')}`;
}
