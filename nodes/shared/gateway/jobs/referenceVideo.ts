import { publicLinkProblem } from '../links';
import { fieldProblem, type Field } from '../protocol/fields';
import { referenceVideoModels, referenceVoice, type ReferenceVideoModel } from '../protocol/models';

/** "Resources", media item. */
export interface Media {
	type: string;
	/** Absent only where a file has no link, which is a problem of its own. */
	url?: string;
	reference_voice?: string;
}

/** `parameters` of "Endpoints" 1; what the user did not set is absent. */
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
	input: { prompt: string; media: Media[] };
	parameters?: ReferenceVideoParameters;
}

/** What is wrong with a field of the request. */
export interface RequestProblem {
	/** Such as `input.media[0].url`. */
	path: string;
	/** Continues the name of the field: "must be …". */
	problem: string;
}

/** Everything that the service would refuse, by the rules of the model; an unknown model has none. */
export function referenceVideoProblems(
	request: ReferenceVideoRequest,
	gatewayUrl: string,
): RequestProblem[] {
	const model = Object.hasOwn(referenceVideoModels, request.model)
		? referenceVideoModels[request.model]
		: undefined;
	const { prompt, media } = request.input;
	const problems: RequestProblem[] = media.flatMap((item, index) =>
		linkProblems(item, index, gatewayUrl),
	);
	if (model === undefined) return [...problems, ...numberProblems(request)];

	const length = [...prompt].length;
	if (model.prompt && length > model.prompt.max) {
		problems.push({
			path: 'input.prompt',
			problem: `must be at most ${model.prompt.max} characters (it has ${length})`,
		});
	}
	return [
		...problems,
		...mediaProblems(media, request.model, model),
		...parameterProblems(request, model),
	];
}

/** The ratio is ignored when a first frame is passed ("Endpoints" 1): it is not sent then. */
export function ratioIsIgnored({ input }: ReferenceVideoRequest): boolean {
	return input.media.some(({ type }) => type === 'first_frame');
}

function linkProblems(media: Media, index: number, gatewayUrl: string): RequestProblem[] {
	const links = [
		{ path: `input.media[${index}].url`, link: media.url },
		{ path: `input.media[${index}].reference_voice`, link: media.reference_voice },
	];
	return links.flatMap(({ path, link }) => {
		const problem = link === undefined ? undefined : publicLinkProblem(link, gatewayUrl);
		return problem === undefined ? [] : [{ path, problem }];
	});
}

function mediaProblems(
	media: Media[],
	modelId: string,
	model: ReferenceVideoModel,
): RequestProblem[] {
	const problems: RequestProblem[] = [];
	const report = (path: string, problem: string) => problems.push({ path, problem });

	media.forEach(({ type, reference_voice: voice }, index) => {
		const path = `input.media[${index}]`;
		if (!(model.mediaTypes as readonly string[]).includes(type)) {
			report(
				`${path}.type`,
				`must be ${model.mediaTypes.join(' or ')} for ${modelId} (it is "${type}")`,
			);
		}
		if (voice === undefined) return;
		if (!model.voice) {
			report(`${path}.reference_voice`, `is not taken by ${modelId}`);
		} else if (!(referenceVoice.mediaTypes as readonly string[]).includes(type)) {
			report(
				`${path}.reference_voice`,
				`belongs to ${referenceVoice.mediaTypes.join(' or ')} only`,
			);
		} else if (hasOtherAudioType(voice)) {
			report(
				`${path}.reference_voice`,
				`must lead to a ${referenceVoice.fileTypes.join(' or ')} file`,
			);
		}
	});

	const count = (type: string) => media.filter((item) => item.type === type).length;
	const firstFrames = count('first_frame');
	const references = count('reference_image') + count('reference_video');
	const { min, max } = model.references;
	if (references < (min ?? 0) || references > max) {
		const kinds = model.mediaTypes.filter((type) => type !== 'first_frame').join(' and ');
		report(
			'input.media',
			`must have ${min === undefined ? 'at most' : `${min} to`} ${max} ${kinds} items for ${modelId} (it has ${references})`,
		);
	} else if (media.length === 0) {
		report('input.media', 'must have at least one item');
	}
	if (firstFrames > model.firstFrames.max && model.mediaTypes.includes('first_frame')) {
		report(
			'input.media',
			`must have at most ${model.firstFrames.max} first_frame (it has ${firstFrames})`,
		);
	}
	return problems;
}

/** Known by the file name only: a link without one is left to the service. */
function hasOtherAudioType(link: string): boolean {
	const extension = /\.(\w{2,4})$/.exec(URL.canParse(link) ? new URL(link).pathname : '')?.[1];
	const audio = /^(wav|mp3|ogg|oga|opus|m4a|aac|flac|wma|aiff?|webm|mp4)$/i;
	return (
		extension !== undefined &&
		audio.test(extension) &&
		!referenceVoice.fileTypes.includes(extension.toLowerCase())
	);
}

/** No rule, but what JSON would send as null is no number for any model. */
function numberProblems({ parameters = {} }: ReferenceVideoRequest): RequestProblem[] {
	return (['duration', 'seed'] as const).flatMap((name) => {
		const value = parameters[name];
		const problem = value === undefined ? undefined : fieldProblem(value, { type: 'number' });
		return problem === undefined ? [] : [{ path: `parameters.${name}`, problem }];
	});
}

function parameterProblems(
	request: ReferenceVideoRequest,
	model: ReferenceVideoModel,
): RequestProblem[] {
	const entries = Object.entries(request.parameters ?? {}) as Array<
		[keyof ReferenceVideoParameters, unknown]
	>;
	return entries.flatMap(([name, value]) => {
		const path = `parameters.${name}`;
		// Whether the other model takes a seed is not shown: it is sent as it is.
		if (name === 'seed' && model.parameters.seed === undefined) {
			const problem = fieldProblem(value, { type: 'integer' });
			return problem === undefined ? [] : [{ path, problem }];
		}
		const rule = model.parameters[name];
		if (rule === undefined) {
			return [{ path, problem: `is not taken by ${request.model}; remove it` }];
		}
		const { rule: narrowed, because } =
			name === 'duration' ? durationRule(request, model) : { rule, because: '' };
		const problem = fieldProblem(value, narrowed);
		return problem === undefined ? [] : [{ path, problem: problem + because }];
	});
}

function durationRule(
	{ input }: ReferenceVideoRequest,
	{ parameters, maxDurationWithVideo }: ReferenceVideoModel,
): { rule: Field; because: string } {
	const hasVideo = input.media.some(({ type }) => type === 'reference_video');
	return hasVideo && maxDurationWithVideo !== undefined
		? {
				rule: { ...parameters.duration, max: maxDurationWithVideo },
				because: ', because a reference video is given',
			}
		: { rule: parameters.duration, because: '' };
}
