import type { IBinaryData, IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';
import { imageType } from '../../gateway/images/imageType';
import { downloadVideo, type DownloadRequest } from '../../gateway/jobs/download';
import { publicLinkProblem } from '../../gateway/links';
import type { N8nGateway } from '../client/gateway';
import type { Place } from '../parameters/itemParameters';
import type { FileOutput } from './fileOutput';

/** Streams a finished video into n8n's binary store. @throws GatewayError */
export async function storeVideo(
	{ context, gateway }: { context: IExecuteFunctions; gateway: N8nGateway },
	request: DownloadRequest,
	{ binaryField, fileName }: Pick<FileOutput, 'binaryField'> & { fileName: string },
): Promise<IBinaryKeyData> {
	const { runtime } = gateway;
	const file = await downloadVideo(
		gateway,
		request,
		async (bytes) =>
			await context.helpers.prepareBinaryData(runtime.toStream(bytes), fileName, 'video/mp4'),
	);
	return { [binaryField]: file };
}

/** A file name that every system takes, ending in .mp4. */
export function videoFileName(wanted: string): string {
	const name = wanted
		.replace(/[<>:"/\\|?*\u0000-\u001f]+/g, '_')
		.replace(/^\.+/, '')
		.trim();
	// Systems count bytes, up to 255; half a character at the end is left out.
	const safe = Buffer.from(name)
		.subarray(0, 200)
		.toString()
		.replace(/\ufffd+$/, '');
	return /\.(mp4|m4v|mov)$/i.test(safe) ? safe : `${safe || 'video'}.mp4`;
}

/** A picture of an item as a data URL, under its true type. */
export async function dataUrlOf(
	file: IBinaryData,
	{ helpers }: IExecuteFunctions,
	item: number,
): Promise<string> {
	const bytes = await helpers.getBinaryDataBuffer(item, file);
	const { mimeType } = imageType(bytes) ?? file;
	return `data:${mimeType};base64,${bytes.toString('base64')}`;
}

/** Long enough for a job that waits in the service's line. */
const linkLifetime = '24 hours';

/** A link to a file that n8n keeps, which anybody can open; undefined where this n8n cannot sign one. */
export function signedLinkOf(
	file: IBinaryData,
	{ helpers }: Pick<IExecuteFunctions, 'helpers'>,
): string | undefined {
	const canSign = typeof helpers.createBinarySignedUrl === 'function' && file.id;
	return canSign ? helpers.createBinarySignedUrl(file, linkLifetime) : undefined;
}

/** What makes a file the same in another try: all before it in its ID is the folder, which n8n may change. */
export function fileIdentity({ id }: IBinaryData): string | undefined {
	return id?.split(/[/:]/).at(-1);
}

/**
 * The file, or a copy of it under this execution: what a webhook or a form has received lies in a folder for
 * everybody until n8n stores the execution, and moves it. A link that was signed before leads nowhere then.
 */
async function ownFile(
	file: IBinaryData,
	{ helpers }: Pick<IExecuteFunctions, 'helpers'>,
): Promise<IBinaryData> {
	if (!file.id?.includes('/temp/')) return file;
	const bytes = await helpers.getBinaryStream(file.id);
	return await helpers.prepareBinaryData(bytes, file.fileName, file.mimeType);
}

/**
 * A link under which the gateway can fetch a file of an earlier node; undefined, and reported with what
 * to change, where n8n cannot give one.
 * @param field label for its problems
 */
export async function publicLinkOf(
	file: IBinaryData,
	{ place, field, gatewayUrl }: { place: Place; field: string; gatewayUrl: string },
): Promise<string | undefined> {
	const instead = 'or give a public https link instead of the file';
	const { context } = place.parameters;
	const link = signedLinkOf(file, context);
	if (link === undefined) {
		place.report(
			field,
			file.id
				? `needs a newer n8n that can sign links to its files; update n8n, ${instead}`
				: `needs n8n to keep files outside its memory (N8N_DEFAULT_BINARY_DATA_MODE=filesystem); change that setting, ${instead}`,
		);
		return undefined;
	}
	const problem = publicLinkProblem(link, gatewayUrl);
	if (problem === undefined) {
		return signedLinkOf(await ownFile(file, context), context);
	}
	const address = URL.canParse(link) ? new URL(link).origin : link;
	place.report(
		field,
		`cannot be fetched from this n8n, whose address is ${address}; give n8n a public https address (WEBHOOK_URL), ${instead}`,
	);
	return undefined;
}
