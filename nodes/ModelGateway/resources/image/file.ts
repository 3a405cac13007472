import type { IBinaryData, IDataObject } from 'n8n-workflow';
import type { SharedBytes } from '../../../shared/service/client/transferLimit';
import {
	asGatewayError,
	GatewayError,
	type Failure,
} from '../../../shared/service/errors/gatewayError';
import { linkCarriesKey } from '../../../shared/service/errors/requestErrors';
import type { FileType } from '../../../shared/service/files/fileType';
import { chargedImageError, downloadImage } from '../../../shared/service/images/files';
import { maxImages } from '../../../shared/service/protocol/bounds';
import { storeError, storeProblem } from '../../../shared/n8n/files/storeError';
import type { ItemRun } from '../../../shared/n8n/items/work';

/** An image with its link, or with the file that came in place of it. */
export interface MadeImage {
	/** The image's own fields. */
	json: IDataObject;
	url?: string;
	file?: IBinaryData;
	/** About the file; continues its name. */
	hint?: string;
	/** A sentence that says why the file was not downloaded although it could be. */
	omitted?: string;
	/** Why the file in the response cannot be used. */
	problem?: string;
	linkCarriesKey?: true;
	/** See `Image`. */
	mayNeedKey?: true;
	/** The execution that stored the file. Another one stores it again. */
	execution: string;
}

/**
 * The file of an image; undefined when only its link is wanted, or the file is too large. It is kept in `image`, so that a
 * retry does not download it again.
 * @throws GatewayError
 */
export async function fileOf(
	image: MadeImage,
	index: number,
	settings: { fields: IDataObject; download: boolean; shared: SharedBytes },
	run: ItemRun,
): Promise<IBinaryData | undefined> {
	const { json, url, file, problem, execution } = image;
	const { download } = settings;
	const { context, hint } = run;
	const own = context.getExecutionId();
	const known = {
		request_id: settings.fields.request_id as string | undefined,
		partial_text: json.text as string | undefined,
	};
	if (image.linkCarriesKey) {
		throw chargedImageError(linkCarriesKey('use the image').failure, known);
	}
	if (problem !== undefined) {
		throw chargedImageError(
			{ message: `Could not use the image: it ${problem}`, status: 200 },
			known,
		);
	}
	if (file?.id && execution !== own) image.file = await copyOf(file, { url, known, context });
	if (!image.file && download && url !== undefined && index < maxImages) {
		if (image.omitted === undefined) {
			await fetchInto(image, { url, index, known, shared: settings.shared }, run);
		}
		if (image.omitted !== undefined) hint(image.omitted);
	}
	image.execution = own;
	const { file: stored, hint: note } = image;
	if (stored && note !== undefined) hint(`${stored.fileName} ${note}`);
	// A copy, since later nodes may change it.
	return stored && { ...stored };
}

/**
 * A copy for this execution of a file of an earlier one, with which n8n may have deleted it.
 * @returns undefined when it is gone, but has a link
 * @throws GatewayError
 */
async function copyOf(
	{ id = '', fileName, mimeType }: IBinaryData,
	{ url, known, context }: { url?: string; known: Partial<Failure> } & Pick<ItemRun, 'context'>,
): Promise<IBinaryData | undefined> {
	const { getBinaryStream, prepareBinaryData } = context.helpers;
	const bytes = await getBinaryStream(id).catch(storeProblem);
	if (typeof bytes === 'string') {
		if (url !== undefined) return undefined;
		const message = `Could not use the image: n8n no longer has the file of an earlier execution: ${bytes}`;
		throw chargedImageError({ message, status: 200 }, known);
	}
	try {
		return await prepareBinaryData(bytes, fileName, mimeType);
	} catch (error) {
		throw storeError(error, 'use the image', 'image').with({ ...known, url });
	} finally {
		// n8n leaves it open when it cannot store the copy.
		bytes.destroy();
	}
}

/** Downloads the file of an image, unless it is too large. @throws GatewayError */
async function fetchInto(
	image: MadeImage,
	{
		url,
		index,
		known,
		shared,
	}: { url: string; index: number; known: Partial<Failure>; shared: SharedBytes },
	{ context, gateway }: ItemRun,
): Promise<void> {
	const { mayNeedKey } = image;
	const request = { url, mayNeedKey, shared, known };
	const received = await downloadImage(gateway, request, async (bytes, type) => {
		try {
			const file = await gateway.runtime.toStore(bytes);
			return await storeImage(file, type, { index, context });
		} catch (error) {
			throw storeError(error, 'download the image', 'image').with({ ...known, url });
		}
	}).catch(asGatewayError);
	if (received instanceof GatewayError) {
		if (received.failure.kind !== 'excess') throw received;
		image.omitted = `${received.message}. The item has only its link.`;
	} else Object.assign(image, { file: received.stored, hint: received.hint });
}

export async function storeImage(
	bytes: Parameters<ItemRun['context']['helpers']['prepareBinaryData']>[0],
	{ extensions, mimeType }: FileType,
	{ index, context }: { index: number } & Pick<ItemRun, 'context'>,
): Promise<IBinaryData> {
	const fileName = `image${index === 0 ? '' : `-${index + 1}`}.${extensions[0]}`;
	return await context.helpers.prepareBinaryData(bytes, fileName, mimeType);
}
