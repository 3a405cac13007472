import { valueAt } from '../json';
import { fieldProblem, type FieldRule } from '../protocol/fields';
import { referenceVideoModels, type ReferenceVideoModel } from '../protocol/models';
import { countOfType, mediaProblems, type RequestProblem, type Wording } from './referenceMedia';

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
	input: {
		prompt: string;
		/** Items of the form {@link Media}; what the user gave as JSON is sent as it is, so each may be anything. */
		media: unknown[];
	};
	parameters?: ReferenceVideoParameters;
}

/** Everything that the service would refuse, by the rules of the model; an unknown model has none. */
export function referenceVideoProblems(
	request: ReferenceVideoRequest,
	gatewayUrl: string,
	wording: Wording,
): RequestProblem[] {
	const model = modelOf(request);
	const { prompt, media } = inputOf(request);
	const length = [...prompt].length;
	const problems = mediaProblems(media, { ...wording, gatewayUrl, modelId: request.model, model });
	if (model?.prompt && length > model.prompt.max) {
		const problem = `must be at most ${model.prompt.max} characters (it has ${length})`;
		problems.unshift({ path: 'input.prompt', problem });
	}
	return [...problems, ...parameterProblems(request, model)];
}

/** Values that are sent but may have no effect; each problem continues the name of its field. */
export function referenceVideoWarnings(request: ReferenceVideoRequest): RequestProblem[] {
	const model = modelOf(request);
	if (model === undefined) return [];
	const input = inputOf(request);
	const warnings = missingReferences(input).map((problem) => ({ path: 'input.prompt', problem }));
	for (const name of parameterNames.filter(
		(known) => valueAt(request.parameters, known) !== undefined,
	)) {
		const path = `parameters.${name}`;
		if (model.parameters[name] === undefined) {
			const problem = `is not listed for ${request.model}: it is sent, and the service may ignore or refuse it`;
			warnings.push({ path, problem });
		} else if (
			name === model.ignoredWithFirstFrame &&
			countOfType(input.media, 'first_frame') > 0
		) {
			warnings.push({ path, problem: 'has no effect with a first frame' });
		}
	}
	return warnings;
}

/** The prompt and the media, even if Extra Body has put something else in their place. */
function inputOf({ input }: ReferenceVideoRequest): { prompt: string; media: unknown[] } {
	const [prompt, media] = [valueAt(input, 'prompt'), valueAt(input, 'media')];
	return {
		prompt: typeof prompt === 'string' ? prompt : '',
		media: Array.isArray(media) ? media : [],
	};
}

/** The media of the request, whatever they are. */
export const mediaOf = (request: ReferenceVideoRequest): unknown[] => inputOf(request).media;

/** The parameters that any of the known models lists. */
const parameterNames = [
	...new Set(
		Object.values(referenceVideoModels).flatMap(({ parameters }) => Object.keys(parameters)),
	),
] as Array<keyof ReferenceVideoParameters>;

function modelOf({ model }: ReferenceVideoRequest): ReferenceVideoModel | undefined {
	return Object.hasOwn(referenceVideoModels, model) ? referenceVideoModels[model] : undefined;
}

/** Not the numbers of a ratio or a length, as in "image 16:9" and "video 5 seconds". */
export const namedMedia = /\b(image|video)s? ?#?(\d{1,2})\b(?![:.]\d|\s*(s|sec\w*)\b)/gi;

/** The prompt names images and videos by their number among those of their type ("Endpoints" 1, media rules 5). */
function missingReferences({ prompt, media }: ReturnType<typeof inputOf>): string[] {
	return ['image', 'video'].flatMap((noun) => {
		const numbers = [...prompt.matchAll(namedMedia)].map(([, name, number]) =>
			name.toLowerCase() === noun ? Number(number) : 0,
		);
		const highest = numbers.reduce((a, b) => Math.max(a, b), 0);
		const count = countOfType(media, `reference_${noun}`);
		const existing =
			count === 1 ? `is 1 reference ${noun}` : `are ${count || 'no'} reference ${noun}s`;
		const problem = `names ${noun} ${highest}, but there ${existing}; it is ordered all the same`;
		return highest > count ? [problem] : [];
	});
}

function parameterProblems(
	request: ReferenceVideoRequest,
	model: ReferenceVideoModel | undefined,
): RequestProblem[] {
	return parameterNames.flatMap((name) => {
		const value = valueAt(request.parameters, name);
		if (value === undefined) return [];
		const { rule, because } = ruleOf(name, request, model);
		const problem = rule && fieldProblem(value, rule);
		return problem === undefined
			? []
			: [{ path: `parameters.${name}`, problem: problem + because }];
	});
}

/** The rule for a parameter, if the specification states one, and why it is narrower here. */
function ruleOf(
	name: keyof ReferenceVideoParameters,
	request: ReferenceVideoRequest,
	model: ReferenceVideoModel | undefined,
): { rule?: FieldRule; because: string } {
	const rule = model?.parameters[name];
	const max = model?.maxDurationWithVideo;
	const isNarrowed =
		name === 'duration' && countOfType(inputOf(request).media, 'reference_video') > 0;
	return rule && isNarrowed && max !== undefined
		? { rule: { ...rule, max }, because: ', because a reference video is given' }
		: { rule, because: '' };
}
