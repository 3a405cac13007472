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

export interface Look {
	/** The HTTP status. */
	status: number;
	type?: FileType;
	/** Length of the whole file. */
	bytes?: number;
	size?: ImageSize;
}

export interface LinkedFile {
	url: string;
	/** The label of its field. */
	field: string;
	/** Undefined where only the service knows. */
	wanted?: 'image' | 'video' | 'audio';
	/** Advice for a file of another kind; continues "not …". */
	instead?: Partial<Record<FileType['kind'], string>>;
}

interface LinkedFileRules extends Pick<Wording, 'typeName'> {
	labelAt(path: string): string;
	model: string;
}

/** The files that the service fetches for reference media. */
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

/** Milliseconds for one link. The service has more time, so a slow link is not refused. */
const patience = 5_000;

/**
 * Looks at the first bytes of files that the service will fetch: once, without the key, and only where a link of
 * strangers may lead. A host that did not answer in time is not asked again: behind a firewall that drops requests,
 * each link would wait.
 * @returns a function that gives undefined for a file that cannot be reached from here
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

async function firstBytes(gateway: Gateway, url: string): Promise<Look> {
	const call = { purpose: 'look at a reference file', cost: 'read', isFile: true } as const;
	const range = { offset: 0, length: headLength };
	const response = await requestFile(gateway, call, { url, authenticated: false }, range);
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
