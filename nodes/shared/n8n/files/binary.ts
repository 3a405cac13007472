import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { firstImage } from '../../gateway/images/jpeg';
import { publicLinkProblem } from '../../gateway/links';
import type { Scope } from '../parameters/itemParameters';
import { hintAtOtherImages } from './itemFile';

/** Long enough for a job that waits in the service's queue before it fetches the file. */
const linkLifetime = '24 hours';

/** A public link to a file that n8n keeps; undefined where this n8n cannot sign links. */
export function signedLinkOf(
	file: IBinaryData,
	{ helpers }: Pick<IExecuteFunctions, 'helpers'>,
): string | undefined {
	const canSign = typeof helpers.createBinarySignedUrl === 'function' && file.id;
	return canSign ? helpers.createBinarySignedUrl(file, linkLifetime) : undefined;
}

/**
 * The file, or a copy of it that belongs to this execution. A file from a webhook or a form is in a shared temporary
 * folder. When n8n stores the execution, it moves the file, which breaks links that were signed before.
 */
async function permanentFile(
	file: IBinaryData,
	{ helpers }: Pick<IExecuteFunctions, 'helpers'>,
): Promise<IBinaryData> {
	if (!file.id?.includes('/temp/')) return file;
	const bytes = await helpers.getBinaryStream(file.id);
	return await helpers.prepareBinaryData(bytes, file.fileName, file.mimeType);
}

/**
 * The file that the service will fetch. If a JPEG has more than one image, it is a copy of the first image alone,
 * unless the user skips checks.
 */
async function fileToFetch(file: IBinaryData, scope: Scope): Promise<IBinaryData> {
	const { context, item } = scope.parameters;
	const { helpers } = context;
	// A clip is not read into memory, because it may be large.
	if (!file.mimeType.startsWith('image/') || scope.parameters.skipsRules)
		return await permanentFile(file, context);
	const whole = await helpers.getBinaryDataBuffer(item, file);
	const image = firstImage(whole);
	if (!image || image === whole) return await permanentFile(file, context);
	hintAtOtherImages(file, scope);
	return await helpers.prepareBinaryData(image, file.fileName, file.mimeType);
}

/**
 * A link by which the gateway can fetch a file of an earlier node. Undefined where n8n cannot give one: it then reports
 * a problem that says what to change.
 * @param field label for its problems
 */
export async function publicLinkOf(
	file: IBinaryData,
	{ scope, field }: { scope: Scope; field: string },
): Promise<string | undefined> {
	const instead = 'or give a public https link instead of the file';
	const { context, gatewayUrl, skipsRules } = scope.parameters;
	const link = signedLinkOf(file, context);
	if (link === undefined) {
		scope.report(
			field,
			file.id
				? `needs a newer n8n that can sign links to its files; update n8n, ${instead}`
				: `needs n8n to keep files outside its memory (N8N_DEFAULT_BINARY_DATA_MODE=filesystem); change that setting, ${instead}`,
			'unsendable',
		);
		return undefined;
	}
	const problem = publicLinkProblem(link, gatewayUrl);
	if (problem === undefined || skipsRules) {
		return signedLinkOf(await fileToFetch(file, scope), context);
	}
	const address = URL.canParse(link) ? new URL(link).origin : link;
	scope.report(
		field,
		`cannot be fetched from this n8n, whose address is ${address}; give n8n a public https address (WEBHOOK_URL), ${instead}`,
	);
	return undefined;
}
