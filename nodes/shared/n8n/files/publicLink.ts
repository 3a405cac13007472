import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import type { Readable } from '../client/httpClient';
import { isOtherType, type FileType } from '../../service/files/fileType';
import { parseUrl, publicLinkProblem } from '../../service/links';
import { checkFile, type FileCheck } from './itemFile';

/** Long enough for a job that waits in the service's queue before it fetches the file. */
const linkLifetime = '24 hours';

/** A public link to a file that n8n keeps; undefined if this n8n cannot sign links. */
export function signedLinkOf(
	file: IBinaryData,
	{ helpers }: Pick<IExecuteFunctions, 'helpers'>,
): string | undefined {
	const canSign = typeof helpers.createBinarySignedUrl === 'function' && file.id;
	return canSign ? helpers.createBinarySignedUrl(file, linkLifetime) : undefined;
}

/**
 * Checks the file that the service will fetch. The result is a copy
 * - of the first image alone, if a JPEG has several;
 * - with the type that its bytes show, if it is declared as another: the service may go by that;
 * - that belongs to this execution, if it is in the shared temporary folder of a webhook or a form: n8n moves such a
 *   file when it stores the execution, which breaks links that were signed before.
 */
async function fileToFetch(file: IBinaryData, check: FileCheck): Promise<IBinaryData> {
	const { context, skipsRules } = check.scope.parameters;
	const { prepareBinaryData, getBinaryStream } = context.helpers;
	const { type, firstOfSeveral } = skipsRules ? {} : await checkFile(file, check);
	const isMisnamed = type !== undefined && isOtherType(file.mimeType, type);
	const isTemporary = file.id?.includes('/temp/') ?? false;
	if (!firstOfSeveral && !isMisnamed && !isTemporary) return file;
	const stored = firstOfSeveral ? undefined : await getBinaryStream(String(file.id));
	const [name, mimeType] = isMisnamed
		? [nameOf(file, type), type.mimeType]
		: [file.fileName, file.mimeType];
	try {
		return await prepareBinaryData(firstOfSeveral ?? (stored as Readable), name, mimeType);
	} finally {
		// n8n leaves it open when it cannot store the copy.
		stored?.destroy();
	}
}

/** The file's name with an ending of its type. */
function nameOf({ fileName = 'file' }: IBinaryData, { extensions }: FileType): string {
	const [, stem, given] = /^(.+)\.(\w{1,5})$/.exec(fileName) ?? [undefined, fileName, ''];
	return extensions.includes(given.toLowerCase()) ? fileName : `${stem}.${extensions[0]}`;
}

/** A link by which the gateway can fetch a file of an earlier node. Undefined, with a problem reported, if there is none. */
export async function publicLinkOf(
	file: IBinaryData,
	check: FileCheck,
): Promise<string | undefined> {
	const { scope, field } = check;
	const instead = 'or give a public https link instead of the file';
	const { context, purpose, skipsRules } = scope.parameters;
	const link = signedLinkOf(file, context);
	if (link === undefined) {
		const need = file.id
			? 'needs a newer n8n that can sign links to its files; update n8n'
			: 'needs n8n to keep files outside its memory (N8N_DEFAULT_BINARY_DATA_MODE=filesystem); change that setting';
		scope.report(field, `${need}, ${instead}`, 'unsendable');
		return undefined;
	}
	const problem = publicLinkProblem(link, purpose.gatewayUrl ?? '');
	if (problem === undefined || skipsRules) {
		return signedLinkOf(await fileToFetch(file, check), context);
	}
	const address = parseUrl(link)?.origin ?? link;
	scope.report(
		field,
		`cannot be fetched from this n8n, whose address is ${address}; give n8n a public https address (WEBHOOK_URL), ${instead}`,
	);
	return undefined;
}
