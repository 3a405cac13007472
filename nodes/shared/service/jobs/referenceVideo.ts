import { asText, describeValue, isObject, valueAt } from '../json';
import { publicLinkProblem } from '../links';
import { fieldProblem, type FieldRule } from '../protocol/fields';
import { referenceVideoModels, referenceVoice, type ReferenceVideoModel } from '../protocol/models';

/** "Resources", media item. */
export interface Media {
	type: string;
	/** Undefined for a file without a link, which is a problem of its own. */
	url?: string;
	reference_voice?: string;
}

/** `parameters` of "Endpoints" 1. */
export interface ReferenceVideoParameters {
	resolution?: string;
	ratio?: string;
	/** Seconds. */
	duration?: number;
	prompt_extend?: boolean;
	watermark?: boolean;
	seed?: number;
}

/** Body of "Endpoints" 1. */
export interface ReferenceVideoRequest {
	model: string;
	input: {
		prompt: string;
		/** Items of the form {@link Media}; those that the user gave as JSON may be anything. */
		media: unknown[];
	};
	parameters?: ReferenceVideoParameters;
}

/**
 * Takes a problem or remark that continues the name of its field: "must be …".
 * @param path such as `input.media[0].url`
 */
type ReportOfRequest = (path: string, problem: string) => void;

export interface Wording {
	/** The user's word for a type of media. */
	typeName(type: string): string;
	/** Advice for several links in one field. */
	multipleLinksHint: string;
}

interface Rules extends Wording {
	gatewayUrl: string;
	report: ReportOfRequest;
}

/** Reports what the service would refuse, by the rules of the model; an unknown model has none. */
export function checkReferenceVideo(request: ReferenceVideoRequest, rules: Rules): void {
	const { prompt, media } = inputOf(request);
	const model = modelOf(request);
	const { length } = [...prompt];
	const max = model?.prompt?.max ?? Infinity;
	if (length > max)
		rules.report('input.prompt', `must be at most ${max} characters (it has ${length})`);
	media.forEach((item, index) => {
		for (const name of ['url', 'reference_voice'] as const) {
			const problem = mediaLinkProblem(item, name, { ...rules, model });
			if (problem !== undefined) rules.report(`input.media[${index}].${name}`, problem);
		}
	});
	if (model === undefined) return;
	const known = { ...rules, model, modelId: request.model };
	media.forEach((item, index) => checkItem(item, `input.media[${index}]`, known));
	checkCounts(media, known);
	checkParameters(request, known);
}

function mediaLinkProblem(
	item: unknown,
	name: 'url' | 'reference_voice',
	{ model, gatewayUrl, ...rules }: Rules & { model?: ReferenceVideoModel },
): string | undefined {
	const link = valueAt(item, name);
	if (typeof link === 'string') {
		const multipleLinksHint = name === 'url' ? rules.multipleLinksHint : undefined;
		return publicLinkProblem(link, gatewayUrl, { multipleLinksHint, anyProtocol: !model });
	}
	if (model === undefined) return undefined;
	const isGiven = isObject(item) && Object.hasOwn(item, name);
	if (!isGiven) return name === 'url' ? 'is empty' : undefined;
	return link === undefined
		? undefined
		: `must be a link that starts with https:// (it is ${describeValue(link)})`;
}

type KnownRules = Rules & { model: ReferenceVideoModel; modelId: string };

function checkItem(item: unknown, path: string, rules: KnownRules): void {
	const { model, modelId, typeName, report } = rules;
	const type = valueAt(item, 'type');
	if (!isOneOf(model.mediaTypes, type)) {
		const given = describeValue(typeof type === 'string' ? typeName(type) : type);
		const expected = model.mediaTypes.map(typeName).join(' or ');
		report(`${path}.type`, `must be ${expected} for ${modelId} (it is ${given})`);
	}
	const voice = asText(valueAt(item, 'reference_voice'));
	const problem = voice && voiceProblem(voice, type, rules);
	if (problem) report(`${path}.reference_voice`, problem);
}

const isOneOf = (values: readonly unknown[], value: unknown) => values.includes(value);

function voiceProblem(
	voice: string,
	type: unknown,
	{ model, modelId, typeName }: KnownRules,
): string | undefined {
	const { mediaTypes, fileTypes } = referenceVoice;
	if (!model.voice) return `cannot be used with ${modelId}`;
	if (!isOneOf(mediaTypes, type)) return `belongs to ${mediaTypes.map(typeName).join(' or ')} only`;
	// Judged by the file extension only: a link without one is left to the service.
	const [, extension = ''] = /^[^?#]*\.(\w{2,4})(?:[?#]|$)/.exec(voice) ?? [];
	const isOther = /^(?:ogg|oga|opus|m4a|aac|flac|wma|aiff?|webm|mp4)$/i.test(extension);
	return isOther ? `must lead to a ${fileTypes.join(' or ')} file` : undefined;
}

function checkCounts(media: unknown[], { model, modelId, typeName, report }: KnownRules): void {
	const { min, max } = model.references;
	const references = countOfType(media, 'reference_image') + countOfType(media, 'reference_video');
	if (references < (min ?? 0) || references > max) {
		const types = model.mediaTypes.filter((type) => type !== 'first_frame').map(typeName);
		const named = `${types.join(' and ').replaceAll('_', ' ')} entries for ${modelId}`;
		const expected = `${min === undefined ? 'at most' : `${min} to`} ${max} ${named}`;
		report('input.media', `must have ${expected} (it has ${references})`);
	} else if (media.length === 0) report('input.media', 'must have at least one entry');
	const firstFrames = countOfType(media, 'first_frame');
	const most = model.firstFrames.max;
	if (firstFrames > most && isOneOf(model.mediaTypes, 'first_frame')) {
		const expected = `at most ${most} ${typeName('first_frame')}`;
		report('input.media', `must have ${expected} (it has ${firstFrames})`);
	}
}

function checkParameters(request: ReferenceVideoRequest, { model, report }: KnownRules): void {
	const hasVideo = countOfType(mediaOf(request), 'reference_video') > 0;
	for (const [name, rule] of Object.entries(model.parameters) as Array<[string, FieldRule]>) {
		const value = valueAt(request.parameters, name);
		const max = name === 'duration' && hasVideo ? model.maxDurationWithVideo : undefined;
		const narrowed = max === undefined ? rule : { ...rule, max };
		const problem = value === undefined ? undefined : fieldProblem(value, narrowed);
		const because = max === undefined ? '' : ', because a reference video is given';
		if (problem !== undefined) report(`parameters.${name}`, problem + because);
	}
}

/** Reports values that are sent but may have no effect. */
export function warnOfReferenceVideo(
	request: ReferenceVideoRequest,
	report: ReportOfRequest,
): void {
	const model = modelOf(request);
	if (model === undefined) return;
	const { prompt, media } = inputOf(request);
	for (const problem of missingReferences(prompt, media)) report('input.prompt', problem);
	for (const name of parameterNames) {
		const path = `parameters.${name}`;
		if (valueAt(request.parameters, name) === undefined) continue;
		if (!Object.hasOwn(model.parameters, name)) {
			const remark = 'it is sent, and the service may ignore or refuse it';
			report(path, `is not listed for ${request.model}: ${remark}`);
		} else if (name === model.ignoredWithFirstFrame && countOfType(media, 'first_frame') > 0) {
			report(path, 'has no effect with a first frame');
		}
	}
}

const parameterNames = new Set(
	Object.values(referenceVideoModels).flatMap(({ parameters }) => Object.keys(parameters)),
);

/** Extra Body may have put anything in their place. */
function inputOf({ input }: ReferenceVideoRequest): { prompt: string; media: unknown[] } {
	const prompt = valueAt(input, 'prompt');
	const media = valueAt(input, 'media');
	return {
		prompt: typeof prompt === 'string' ? prompt : '',
		media: Array.isArray(media) ? media : [],
	};
}

export const mediaOf = (request: ReferenceVideoRequest): unknown[] => inputOf(request).media;

const countOfType = (media: unknown[], type: string) =>
	media.filter((item) => valueAt(item, 'type') === type).length;

function modelOf({ model }: ReferenceVideoRequest): ReferenceVideoModel | undefined {
	return Object.hasOwn(referenceVideoModels, model) ? referenceVideoModels[model] : undefined;
}

/** Not the numbers of a ratio or a length, as in "image 16:9" and "video 5 seconds". */
export const namedMedia = /\b(image|video)s? ?#?(\d{1,2})\b(?![:.]\d|\s*(s|sec\w*)\b)/gi;

/** A prompt names media by their number among those of their type ("Endpoints" 1, media rules 5). */
function missingReferences(prompt: string, media: unknown[]): string[] {
	const named = [...prompt.matchAll(namedMedia)];
	return ['image', 'video'].flatMap((noun) => {
		const ofNoun = named.filter(([, name]) => name.toLowerCase() === noun);
		const highest = ofNoun.reduce((most, [, , number]) => Math.max(most, Number(number)), 0);
		const count = countOfType(media, `reference_${noun}`);
		if (highest <= count) return [];
		const existing = `${count === 1 ? 'is 1' : `are ${count || 'no'}`} reference ${noun}`;
		const there = `there ${existing}${count === 1 ? '' : 's'}`;
		return [`names ${noun} ${highest}, but ${there}; it is ordered all the same`];
	});
}
