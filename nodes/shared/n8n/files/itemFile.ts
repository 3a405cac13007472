import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { hasSeveralFrames, imageType } from '../../gateway/images/imageType';
import { firstPicture } from '../../gateway/images/jpeg';
import { isTool } from '../agent/tool';
import type { Place } from '../parameters/itemParameters';

/** A file of the item; undefined, and reported, when there is none. @param field label for its problems */
export function itemFile(name: string, field: string, place: Place): IBinaryData | undefined {
	const { context, item } = place.parameters;
	const files = context.getInputData()[item]?.binary ?? {};
	if (Object.hasOwn(files, name)) return files[name];
	if (isTool(context.getNode())) {
		const problem = 'names a file, but an agent hands no files to its tools: give a link';
		place.report(field, problem, 'unsendable');
		return undefined;
	}
	const there = Object.keys(files);
	const has = there.length === 0 ? 'it has no files at all' : `it has ${there.join(', ')}`;
	place.report(field, `names "${name}", but this item has no such file (${has})`, 'unsendable');
	return undefined;
}

/** A file of the item that has to be a picture. */
export function itemPicture(name: string, field: string, place: Place): IBinaryData | undefined {
	const file = itemFile(name, field, place);
	if (file) place.parameters.checks.push(async () => await checkPicture(file, field, place));
	return file;
}

/** Finds what would be refused after it was sent ("Error codes seen", invalid_image_file). */
async function checkPicture(file: IBinaryData, field: string, place: Place): Promise<void> {
	const { context, item } = place.parameters;
	const bytes = await context.helpers.getBinaryDataBuffer(item, file);
	const { fileName = 'of a JPEG' } = file;
	const isCalledJpeg = /\.jpe?g$/i.test(fileName) || file.mimeType === 'image/jpeg';
	// A picture may be in a form that only n8n knows.
	if (!imageType(bytes) && !file.mimeType.startsWith('image/')) {
		place.report(field, `is no picture (it is ${file.mimeType})`);
	} else if (isCalledJpeg && firstPicture(bytes) === undefined && hasSeveralFrames(bytes)) {
		place.report(
			field,
			`leads to a file with several frames behind the name ${fileName}; save it as a plain JPEG or PNG`,
		);
	}
}

/** Where a picture is sent from: an item whose request is being made. */
export interface Sender {
	context: IExecuteFunctions;
	item: number;
	hint(message: string): void;
}

/** A picture as it is sent, with the type that its bytes show, and the extension that belongs to it where it is known. */
export interface SentPicture {
	bytes: Buffer;
	mimeType: string;
	extension?: string;
}

/** Of a JPEG that holds more, which the service may refuse, the first picture is sent, and a hint says so. */
export async function pictureToSend(
	file: IBinaryData,
	{ context, item, hint }: Sender,
): Promise<SentPicture> {
	const whole = await context.helpers.getBinaryDataBuffer(item, file);
	const bytes = firstPicture(whole) ?? whole;
	if (bytes !== whole) {
		const { fileName = 'the JPEG' } = file;
		hint(
			`Item ${item}: ${fileName} holds more than one picture, or a clip; only its first picture was sent.`,
		);
	}
	return { bytes, mimeType: file.mimeType, ...imageType(bytes) };
}

/** A picture as a data URL. */
export async function dataUrlOf(file: IBinaryData, sender: Sender): Promise<string> {
	const { bytes, mimeType } = await pictureToSend(file, sender);
	return `data:${mimeType};base64,${bytes.toString('base64')}`;
}
