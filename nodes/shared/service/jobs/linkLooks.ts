import { readBody, requestFile } from '../client/fileRequest';
import type { Gateway } from '../client/gateway';
import { announcedLength } from '../client/receivedPart';
import { withTimeout } from '../client/timeouts';
import {
	fileTypeOf,
	headLength,
	headOf,
	isKind,
	withArticle,
	type FileType,
} from '../files/fileType';
import { imageSizeOf, type ImageSize } from '../files/imageSize';
import { asText, valueAt } from '../json';
import { parseUrl } from '../links';
import {
	fileOfMedium,
	referenceVideoModels,
	type MediaType,
	type ReferenceVideoModel,
} from '../protocol/models';
import type { Wording } from './referenceVideo';

/** The finding of a look at the first bytes behind a link. */
export interface Look {
	/** HTTP status of its host. */
	status: number;
	/** Undefined when the bytes are of no known type, or did not come. */
	type?: FileType;
	/** Length of the whole file, if its host says it. */
	bytes?: number;
	size?: ImageSize;
}

/** A file that the service fetches by a link. */
export interface LinkedFile {
	url: string;
	/** The label of its field. */
	field: string;
	/** The kind of file that it must be; undefined where only the service knows. */
	wanted?: 'image' | 'video' | 'audio';
	/** The choice for a file of another kind, if the model takes it; continues "not …". */
	instead?: Partial<Record<FileType['kind'], string>>;
}

interface LinkedFileRules extends Pick<Wording, 'typeName'> {
	/** The label of a field of the request. */
	labelAt(path: string): string;
	model: string;
}

/** The files that the service fetches for these reference media, and what each must be. */
export function linkedFiles(
	media: readonly unknown[],
	{ labelAt, model: modelId, typeName }: LinkedFileRules,
): LinkedFile[] {
	const model = referenceVideoModels[modelId] as ReferenceVideoModel | undefined;
	const instead: LinkedFile['instead'] = {};
	for (const type of ['reference_image', 'reference_video'] as const) {
		const isTaken = !model || model.mediaTypes.includes(type);
		instead[fileOfMedium[type]] = isTaken
			? `: choose ${typeName(type)}`
			: `: ${modelId} takes none`;
	}
	return media.flatMap((item, index): LinkedFile[] => {
		const wanted = fileOfMedium[valueAt(item, 'type') as MediaType];
		const at = (name: string) => ({
			url: asText(valueAt(item, name)) ?? '',
			field: labelAt(`input.media[${index}].${name}`),
		});
		const files: LinkedFile[] = [
			{ ...at('url'), wanted, instead },
			{ ...at('reference_voice'), wanted: 'audio' },
		];
		return files.filter(({ url }) => url !== '');
	});
}

/** Why a file surely cannot be used; continues the label of its field. A video may be meant for its sound. */
export function problemOf(look: Look, { wanted, instead = {} }: LinkedFile): string | undefined {
	const { status, type } = look;
	if (status === 404 || status === 410) return `leads to no file (HTTP ${status})`;
	if (type === undefined) return undefined;
	const isRight =
		wanted === undefined
			? type.mimeType !== 'text/html'
			: isKind(type, wanted) || (wanted === 'audio' && type.kind === 'video');
	if (isRight) return undefined;
	const what = wanted ? withArticle[wanted] : 'a file';
	return `leads to ${type.name}, not to ${what}${instead[type.kind] ?? ''}`;
}

/** Milliseconds for one link. The service has more time, so what is slow is not refused. */
const patience = 5_000;

/**
 * Looks at files that the service will fetch: at the first bytes of each, without the key, and only where a link of
 * strangers may lead. Each link is fetched once. A host that did not answer in time is not asked again: behind a firewall
 * that drops requests, each link would wait.
 * @returns a function that gives undefined where a file cannot be reached from here
 */
export function lookAtLinks(gateway: Gateway): (url: string) => Promise<Look | undefined> {
	const looks = new Map<string, Promise<Look | undefined>>();
	const silentHosts = new Set<string>();
	const { clock, signal } = gateway.runtime;
	const lookAt = async (url: string) => {
		const host = /^https?:/i.test(url) ? parseUrl(url)?.host : undefined;
		if (host === undefined || silentHosts.has(host)) return undefined;
		const look = async (inTime: AbortSignal) =>
			await firstBytes(gateway.with({ signal: inTime }), url);
		const limit = { milliseconds: patience, clock, signal };
		return await withTimeout(limit, look).catch(() => {
			silentHosts.add(host);
			return undefined;
		});
	};
	return async (url) => {
		const look = looks.get(url) ?? lookAt(url);
		looks.set(url, look);
		return await look;
	};
}

/** @throws GatewayError when no response arrived */
async function firstBytes(gateway: Gateway, url: string): Promise<Look> {
	const purpose = 'look at a reference file';
	const source = { url, authenticated: false };
	const range = { offset: 0, length: headLength };
	const response = await requestFile(
		gateway,
		{ purpose, cost: 'read', isFile: true },
		source,
		range,
	);
	const { status } = response;
	if (status !== 200 && status !== 206) {
		response.close();
		return { status };
	}
	const head = await headOf(readBody(response, { ...gateway.runtime, idleTimeout: patience }));
	const wholeLength = head.length < headLength ? head.length : undefined;
	const bytes = announcedLength(response) ?? wholeLength;
	return { status, type: fileTypeOf(head), bytes, size: imageSizeOf(head) };
}
