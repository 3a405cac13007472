import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { fileTypeOf, headLength, wrongType, type FileType } from '../../service/files/fileType';
import { hasEnd, hasSeveralFrames } from '../../service/files/imageParts';
import { firstImage } from '../../service/files/jpeg';
import { Mp4Boxes } from '../../service/files/mp4';
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
	if (file) {
		const check = async () => void (await checkFile(file, { wanted: 'image', field, scope }));
		scope.parameters.checks.push(check);
	}
	return file;
}

/** What a file has to be, and where its problems are reported. */
export interface FileCheck {
	/** Undefined when it may be anything. */
	wanted?: 'image' | 'video';
	/** Label for its problems. */
	field: string;
	scope: Scope;
}

/**
 * Reports what surely cannot work: a file of another kind, one that ends in the middle, and an image that the service
 * would refuse ("Error codes seen", invalid_image_file).
 * @returns its type, as far as its bytes show it; of a JPEG with several images, the first one
 */
export async function checkFile(
	file: IBinaryData,
	{ wanted, field, scope }: FileCheck,
): Promise<{ type?: FileType; firstOfSeveral?: Buffer }> {
	const { context, item, skipsRules } = scope.parameters;
	const head = await headOf(file, scope);
	const type = fileTypeOf(head);
	const problem = wanted && wrongType(head, file.mimeType, wanted);
	if (problem !== undefined) {
		scope.report(field, type?.isEncoded ? `${problem}; ${decodeFirst}` : problem);
		return { type };
	}
	if (type?.kind !== 'image') {
		const defect = type?.kind === 'video' && (await defectOfClip(file, context));
		if (defect) scope.report(field, defect);
		return { type };
	}
	const bytes = await context.helpers.getBinaryDataBuffer(item, file);
	if (wanted === 'video' && !hasSeveralFrames(bytes)) {
		scope.report(field, `is ${type.name} with one image, not a video`);
	}
	const image = firstImage(bytes);
	const firstOfSeveral = image === bytes ? undefined : image;
	if (firstOfSeveral && !skipsRules) hintAtOtherImages(file, scope);
	const { fileName = 'of a JPEG' } = file;
	const isCalledJpeg = /\.jpe?g$/i.test(fileName) || file.mimeType === 'image/jpeg';
	if (hasEnd(bytes) === false) scope.report(field, endsEarly);
	else if (wanted !== 'video' && isCalledJpeg && !image && hasSeveralFrames(bytes)) {
		scope.report(
			field,
			`leads to a file with several frames behind the name ${fileName}; save it as a plain JPEG or PNG`,
		);
	}
	return { type, firstOfSeveral };
}

const endsEarly = 'ends in the middle: a part of the file is missing';
const decodeFirst =
	'make a file of it first (Convert to File, with the operation Move Base64 String to File)';

/** The first bytes of a file, as many as its type needs. */
async function headOf(file: IBinaryData, { parameters: { context } }: Scope): Promise<Buffer> {
	if (!file.id) return Buffer.from(file.data.slice(0, 2 * headLength), 'base64');
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of await context.helpers.getBinaryStream(file.id)) {
		chunks.push(chunk as Buffer);
		length += (chunk as Buffer).length;
		if (length >= headLength) break;
	}
	return Buffer.concat(chunks);
}

/** Why nothing can play a clip. It is not read into memory, because it may be large. */
async function defectOfClip(
	file: IBinaryData,
	{ helpers }: Scope['parameters']['context'],
): Promise<string | undefined> {
	const boxes = new Mp4Boxes();
	if (!file.id) boxes.push(Buffer.from(file.data, 'base64'));
	else
		for await (const chunk of await helpers.getBinaryStream(file.id)) boxes.push(chunk as Buffer);
	if (boxes.isTruncated) return endsEarly;
	return boxes.lacksIndex ? 'has no index (moov), without which nothing can play it' : undefined;
}

/** Says that only the first image of a JPEG is sent, because the service may refuse a JPEG with several. */
function hintAtOtherImages({ fileName = 'The JPEG' }: IBinaryData, { parameters }: Scope): void {
	parameters.hints.push(
		`${fileName} holds more than one image, or a clip; only its first image was sent.`,
	);
}

/** A file as it is sent: with the type that its bytes show, and the file extension of that type. */
interface FileToSend {
	bytes: Buffer;
	mimeType: string;
	extension?: string;
}

/** Loads an image to send. Of a JPEG with several images, only the first is sent, unless the user skips checks. */
export async function imageToSend(
	file: IBinaryData,
	context: IExecuteFunctions,
	item: number,
): Promise<FileToSend> {
	const whole = await context.helpers.getBinaryDataBuffer(item, file);
	const { skipsRules } = new ItemParameters(context, item);
	const bytes = (skipsRules ? undefined : firstImage(whole)) ?? whole;
	const type = fileTypeOf(bytes);
	return { bytes, mimeType: type?.mimeType ?? file.mimeType, extension: type?.extensions[0] };
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
