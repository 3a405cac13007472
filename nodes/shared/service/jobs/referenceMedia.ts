import { asText, describeValue, isObject, valueAt } from '../json';
import { publicLinkProblem } from '../links';
import {
	fileOfMedium,
	referenceVideoModels,
	referenceVoice,
	type MediaType,
	type ReferenceVideoModel,
} from '../protocol/models';
import type { LinkedFile } from './linkLooks';

/** "Resources", media item. */
export interface Media {
	type: string;
	/** Undefined for a file without a link, which is a problem of its own. */
	url?: string;
	reference_voice?: string;
}

/** A problem of a field of the request, or a remark about it. */
export interface RequestProblem {
	/** Such as `input.media[0].url`. */
	path: string;
	/** Continues the name of the field: "must be …". */
	problem: string;
}

/** The words in which problems are reported. */
export interface Wording {
	/** The user's word for a type of media. */
	typeName(type: string): string;
	/** Advice in place of several links in one field. */
	multipleLinksHint: string;
}

interface MediaRules extends Wording {
	gatewayUrl: string;
	modelId: string;
	/** Undefined for an unknown model. */
	model?: ReferenceVideoModel;
}

/** The files that the service fetches for these media, and what each must be. */
export function linkedFiles(
	media: readonly unknown[],
	{ labelAt, model: modelId, wording }: LinkedFileRules,
): LinkedFile[] {
	const model = referenceVideoModels[modelId] as ReferenceVideoModel | undefined;
	const instead: LinkedFile['instead'] = {};
	for (const type of ['reference_image', 'reference_video'] as const) {
		const isTaken = !model || model.mediaTypes.includes(type);
		instead[fileOfMedium[type]] = isTaken
			? `: choose ${wording.typeName(type)}`
			: `: ${modelId} takes none`;
	}
	return media.flatMap((item, index): LinkedFile[] => {
		const wanted = fileOfMedium[valueAt(item, 'type') as MediaType];
		const at = (name: string) => ({
			url: asText(valueAt(item, name)) ?? '',
			field: labelAt(`input.media[${index}].${name}`),
		});
		const files = [
			{ ...at('url'), wanted, instead },
			{ ...at('reference_voice'), wanted: 'audio' as const },
		];
		return files.filter(({ url }) => url !== '');
	});
}

interface LinkedFileRules {
	/** The label of a field of the request. */
	labelAt(path: string): string;
	model: string;
	wording: Wording;
}

/** The number of media of this type. */
export const countOfType = (media: unknown[], type: string) =>
	media.filter((item) => valueAt(item, 'type') === type).length;

/** The refusals that the service would give ("Endpoints" 1), and links that nobody can fetch. */
export function mediaProblems(media: unknown[], rules: MediaRules): RequestProblem[] {
	const { model } = rules;
	const inLinks = media.flatMap((item, index) =>
		linkProblems(item, `input.media[${index}]`, rules),
	);
	if (model === undefined) return inLinks;
	const inItems = media.flatMap((item, index) =>
		itemProblems(item, `input.media[${index}]`, { ...rules, model }),
	);
	const inCounts = countProblems(media, { ...rules, model }).map((problem) => ({
		path: 'input.media',
		problem,
	}));
	return [...inLinks, ...inItems, ...inCounts];
}

function linkProblems(
	item: unknown,
	path: string,
	{ gatewayUrl, model, multipleLinksHint }: MediaRules,
): RequestProblem[] {
	const anyProtocol = model === undefined;
	return (['url', 'reference_voice'] as const).flatMap((name) => {
		const link = valueAt(item, name);
		const problem =
			typeof link === 'string'
				? publicLinkProblem(link, gatewayUrl, {
						multipleLinksHint: name === 'url' ? multipleLinksHint : undefined,
						anyProtocol,
					})
				: model && otherLinkProblem(item, name);
		return problem === undefined ? [] : [{ path: `${path}.${name}`, problem }];
	});
}

/** The problem of a link that is not a text. */
function otherLinkProblem(item: unknown, name: 'url' | 'reference_voice'): string | undefined {
	const isGiven = isObject(item) && Object.hasOwn(item, name);
	if (!isGiven) return name === 'url' ? 'is empty' : undefined;
	return item[name] === undefined
		? undefined
		: `must be a link that starts with https:// (it is ${describeValue(item[name])})`;
}

type KnownRules = MediaRules & { model: ReferenceVideoModel };

function itemProblems(
	item: unknown,
	path: string,
	{ model, modelId, typeName }: KnownRules,
): RequestProblem[] {
	const type = valueAt(item, 'type');
	const voice = asText(valueAt(item, 'reference_voice'));
	const problems: RequestProblem[] = [];
	if (!(model.mediaTypes as readonly unknown[]).includes(type)) {
		const given = describeValue(typeof type === 'string' ? typeName(type) : type);
		const expected = model.mediaTypes.map(typeName).join(' or ');
		const problem = `must be ${expected} for ${modelId} (it is ${given})`;
		problems.push({ path: `${path}.type`, problem });
	}
	const problem = voice && voiceProblem(voice, type, { model, modelId, typeName });
	if (problem) problems.push({ path: `${path}.reference_voice`, problem });
	return problems;
}

function voiceProblem(
	voice: string,
	type: unknown,
	{ model, modelId, typeName }: Pick<KnownRules, 'model' | 'modelId' | 'typeName'>,
): string | undefined {
	const { mediaTypes, fileTypes } = referenceVoice;
	if (!model.voice) return `cannot be used with ${modelId}`;
	if (!(mediaTypes as readonly unknown[]).includes(type)) {
		return `belongs to ${mediaTypes.map(typeName).join(' or ')} only`;
	}
	return hasOtherAudioType(voice) ? `must lead to a ${fileTypes.join(' or ')} file` : undefined;
}

/** Judged by the file extension only: a link without one is left to the service. */
function hasOtherAudioType(link: string): boolean {
	const [, extension = ''] = /^[^?#]*\.(\w{2,4})(?:[?#]|$)/.exec(link) ?? [];
	return /^(?:ogg|oga|opus|m4a|aac|flac|wma|aiff?|webm|mp4)$/i.test(extension);
}

function countProblems(media: unknown[], { model, modelId, typeName }: KnownRules): string[] {
	const problems: string[] = [];
	const { min, max } = model.references;
	const references = countOfType(media, 'reference_image') + countOfType(media, 'reference_video');
	if (references < (min ?? 0) || references > max) {
		const types = model.mediaTypes.filter((type) => type !== 'first_frame').map(typeName);
		const expected = `${min === undefined ? 'at most' : `${min} to`} ${max}`;
		problems.push(
			`must have ${expected} ${types.join(' and ').replaceAll('_', ' ')} entries for ${modelId} (it has ${references})`,
		);
	} else if (media.length === 0) {
		problems.push('must have at least one entry');
	}
	const firstFrames = countOfType(media, 'first_frame');
	if (firstFrames > model.firstFrames.max && model.mediaTypes.includes('first_frame')) {
		problems.push(
			`must have at most ${model.firstFrames.max} ${typeName('first_frame')} (it has ${firstFrames})`,
		);
	}
	return problems;
}
