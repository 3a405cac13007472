import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { fileTypeOf, headOf, wrongType, type FileType } from '../../service/files/fileType';
import type { FileState } from '../../service/files/fileEnd';
import { followFile, hasSeveralFrames } from '../../service/files/fileFormats';
import { firstImage } from '../../service/files/jpeg';
import { asText, isObject } from '../../service/json';
import { isTool } from '../agent/tool';
import { ItemParameters, type Scope } from '../parameters/itemParameters';
import { storeProblem } from './storeError';

/** Undefined, with a problem reported, when the item has no such file. @param field label for its problems */
export function itemFile(name: string, field: string, scope: Scope): IBinaryData | undefined {
	const { context, item } = scope.parameters;
	const files = context.getInputData()[item]?.binary ?? {};
	const file: unknown = Object.hasOwn(files, name) ? files[name] : undefined;
	// A Code node may leave out its type or name; its bytes show what it is.
	if (isObject(file) && typeof file.data === 'string') {
		const mimeType = asText(file.mimeType) ?? 'application/octet-stream';
		return { ...file, data: file.data, mimeType, fileName: asText(file.fileName) };
	}
	if (isTool(context.getNode())) {
		const problem = 'names a file, but an agent hands no files to its tools: give a link';
		scope.report(field, problem, 'unsendable');
		return undefined;
	}
	const names = Object.keys(files);
	const has = names.length === 0 ? 'it has no files at all' : `it has ${names.join(', ')}`;
	const reason = file === undefined ? `this item has no such file (${has})` : 'that is no file';
	// An expression may give nothing, or something that is no name.
	const problem =
		name === '' ? `names no file of this item (${has})` : `names "${name}", but ${reason}`;
	scope.report(field, problem, 'unsendable');
	return undefined;
}

/** The same for a file that must be an image. */
export function itemImage(name: string, field: string, scope: Scope): IBinaryData | undefined {
	const file = itemFile(name, field, scope);
	if (file) {
		const check = async () => void (await checkFile(file, { wanted: 'image', field, scope }));
		scope.parameters.checks.push(check);
	}
	return file;
}

export interface FileCheck {
	/** Undefined when the file may be anything. */
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
	const head = await headOf(chunksOf(file, scope)).catch(storeProblem);
	if (typeof head === 'string') {
		scope.report(field, `cannot be read from n8n's storage (${head})`, 'unsendable');
		return {};
	}
	const type = fileTypeOf(head);
	const problem = wanted && wrongType(head, file.mimeType, wanted);
	if (problem !== undefined) {
		scope.report(field, type?.isEncoded ? `${problem}; ${decodeFirst}` : problem);
		return { type };
	}
	// A clip may be too large for the memory.
	const isImage = type?.kind === 'image';
	const bytes = isImage && (await context.helpers.getBinaryDataBuffer(item, file));
	const end = followFile(type);
	for await (const chunk of bytes ? [bytes] : chunksOf(file, scope)) end.push(chunk);
	const defect = defects[end.state];
	if (defect !== undefined) scope.report(field, defect);
	if (!bytes) return { type };
	const isMoving = hasSeveralFrames(bytes);
	if (wanted === 'video' && !isMoving) {
		scope.report(field, `is ${type.name} with one image, not a video`);
	}
	const image = firstImage(bytes);
	const firstOfSeveral = image === bytes ? undefined : image;
	const { fileName } = file;
	if (firstOfSeveral && !skipsRules) {
		scope.parameters.hints.push(
			`${fileName ?? 'The JPEG'} holds more than one image, or a clip; only its first image was sent.`,
		);
	}
	const isCalledJpeg = /\.jpe?g$/i.test(fileName ?? '') || file.mimeType === 'image/jpeg';
	if (!defect && wanted !== 'video' && isCalledJpeg && !image && isMoving) {
		scope.report(
			field,
			`leads to a file with several frames behind the name ${fileName ?? 'of a JPEG'}; save it as a plain JPEG or PNG`,
		);
	}
	return { type, firstOfSeveral };
}

const decodeFirst =
	'make a file of it first (Convert to File, with the operation Move Base64 String to File)';

/** Reasons why nothing can open a file. */
const defects: Partial<Record<FileState, string>> = {
	cut: 'ends in the middle: a part of the file is missing',
	lacksIndex: 'has no index (moov), without which nothing can play it',
};

async function* chunksOf(file: IBinaryData, { parameters }: Scope): AsyncGenerator<Uint8Array> {
	if (file.id) yield* await parameters.context.helpers.getBinaryStream(file.id);
	else yield Buffer.from(file.data, 'base64');
}

/**
 * Loads an image to send. Of a JPEG with several images, only the first is sent, unless the user skips checks.
 * @returns it with the type and the file extension that its bytes show
 */
export async function imageToSend(
	file: IBinaryData,
	context: IExecuteFunctions,
	item: number,
): Promise<{ bytes: Buffer; mimeType: string; extension?: string }> {
	const whole = await context.helpers.getBinaryDataBuffer(item, file);
	const { skipsRules } = new ItemParameters(context, item);
	const bytes = (skipsRules ? undefined : firstImage(whole)) ?? whole;
	const type = fileTypeOf(bytes);
	return { bytes, mimeType: type?.mimeType ?? file.mimeType, extension: type?.extensions[0] };
}

export async function dataUrlOf(
	file: IBinaryData,
	context: IExecuteFunctions,
	item: number,
): Promise<string> {
	const { bytes, mimeType } = await imageToSend(file, context, item);
	return `data:${mimeType};base64,${bytes.toString('base64')}`;
}
