import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { hasSeveralFrames, imageType } from '../../gateway/images/imageType';
import { firstPicture } from '../../gateway/images/jpeg';
import { isTool } from '../agent/tool';
import { ItemParameters, type Scope } from '../parameters/itemParameters';

/** A file of the item; undefined, and reported, when there is none. @param field label for its problems */
export function itemFile(name: string, field: string, scope: Scope): IBinaryData | undefined {
	const { context, item } = scope.parameters;
	const files = context.getInputData()[item]?.binary ?? {};
	if (Object.hasOwn(files, name)) return files[name];
	if (isTool(context.getNode())) {
		const problem = 'names a file, but an agent hands no files to its tools: give a link';
		scope.report(field, problem, 'unsendable');
		return undefined;
	}
	const there = Object.keys(files);
	const has = there.length === 0 ? 'it has no files at all' : `it has ${there.join(', ')}`;
	scope.report(field, `names "${name}", but this item has no such file (${has})`, 'unsendable');
	return undefined;
}

/** A file of the item that has to be a picture. */
export function itemImage(name: string, field: string, scope: Scope): IBinaryData | undefined {
	const file = itemFile(name, field, scope);
	if (file) scope.parameters.checks.push(async () => await checkImage(file, field, scope));
	return file;
}

/** Finds what would be refused after it was sent ("Error codes seen", invalid_image_file). */
async function checkImage(file: IBinaryData, field: string, scope: Scope): Promise<void> {
	const { context, item } = scope.parameters;
	const bytes = await context.helpers.getBinaryDataBuffer(item, file);
	const picture = firstPicture(bytes);
	const isCut = picture !== undefined && picture !== bytes;
	if (isCut && !scope.parameters.skipsRules) hintAtOtherImages(file, scope);
	const { fileName = 'of a JPEG' } = file;
	const isCalledJpeg = /\.jpe?g$/i.test(fileName) || file.mimeType === 'image/jpeg';
	// A picture may be in a form that only n8n knows.
	if (!imageType(bytes) && !file.mimeType.startsWith('image/')) {
		scope.report(field, `is no image (it is ${file.mimeType})`);
	} else if (isCalledJpeg && !picture && hasSeveralFrames(bytes)) {
		scope.report(
			field,
			`leads to a file with several frames behind the name ${fileName}; save it as a plain JPEG or PNG`,
		);
	}
}

/** Says that a JPEG holds more than is sent of it: several pictures may be refused by the service. */
export function hintAtOtherImages(
	{ fileName = 'The JPEG' }: IBinaryData,
	{ parameters }: Scope,
): void {
	parameters.hints.push(
		`${fileName} holds more than one image, or a clip; only its first image was sent.`,
	);
}

/** A picture as it is sent, with the type that its bytes show, and the extension that belongs to it where it is known. */
interface SentImage {
	bytes: Buffer;
	mimeType: string;
	extension?: string;
}

/** The bytes of a picture as they are sent; of a JPEG that holds more, the first picture alone, unless the user skips checks. */
export async function imageToSend(
	file: IBinaryData,
	context: IExecuteFunctions,
	item: number,
): Promise<SentImage> {
	const whole = await context.helpers.getBinaryDataBuffer(item, file);
	const { skipsRules } = new ItemParameters(context, item);
	const bytes = (skipsRules ? undefined : firstPicture(whole)) ?? whole;
	return { bytes, mimeType: file.mimeType, ...imageType(bytes) };
}

/** A picture as a data URL. */
export async function dataUrlOf(
	file: IBinaryData,
	context: IExecuteFunctions,
	item: number,
): Promise<string> {
	const { bytes, mimeType } = await imageToSend(file, context, item);
	return `data:${mimeType};base64,${bytes.toString('base64')}`;
}
