import {
	referenceVideoModels,
	referenceVoice,
	type ReferenceVideoModel,
} from '../nodes/shared/service/protocol/models';
import { invalidParameter, ServiceError } from './errors';
import { readBoolean, readLink, readNumber, readObject, readText } from './fields';
import type { MediaItem, VideoOrder } from './orders';
import { readPrompt } from './prompts';

/**
 * "Endpoints" 1: checks the body of a passthrough creation against the table of its model. Parameters that the table
 * does not list are ignored, because `seed` of the second model is "not shown".
 */
export function readReferenceVideoOrder(body: unknown): VideoOrder {
	const { model: name, input, parameters } = readObject(body, 'body');
	const { prompt, media: items } = readObject(input, 'input');
	const model = modelNamed(name);
	const media = readMedia(items, model);
	return {
		kind: 'task',
		model: String(name),
		media,
		prompt: readPrompt(prompt, 'input.prompt', { ...model.prompt, moderationStatus: 403 }),
		...readParameters(readObject(parameters, 'parameters'), model, media),
	};
}

function modelNamed(name: unknown): ReferenceVideoModel {
	if (typeof name !== 'string' || !Object.hasOwn(referenceVideoModels, name)) {
		throw new ServiceError(400, 'model_not_found', undefined, { param: 'model' });
	}
	return referenceVideoModels[name];
}

function readMedia(items: unknown, model: ReferenceVideoModel): MediaItem[] {
	const param = 'input.media';
	if (items === undefined || (Array.isArray(items) && items.length === 0)) {
		// "Errors", passthrough creation: missing media has the status 500. Its code is not shown.
		throw new ServiceError(500, 'invalid_parameter', `${param} is missing`, { param });
	}
	if (!Array.isArray(items)) throw invalidParameter(param, 'an array');

	const media = items.map((item, index) => readMediaItem(item, `${param}[${index}]`, model));
	const firstFrames = media.filter(({ type }) => type === 'first_frame').length;
	if (media.length - firstFrames > model.references.max) {
		throw invalidParameter(param, `at most ${model.references.max} references`);
	}
	if (firstFrames > model.firstFrames.max) {
		throw invalidParameter(param, `at most ${model.firstFrames.max} first frame`);
	}
	return media;
}

function readMediaItem(value: unknown, param: string, model: ReferenceVideoModel): MediaItem {
	const item = readObject(value, param);
	const type = model.mediaTypes.find((known) => known === item.type);
	if (!type) throw invalidParameter(`${param}.type`, `one of ${model.mediaTypes.join(', ')}`);

	const url = readLink(item.url, `${param}.url`);
	if (item.reference_voice === undefined) return { type, url };

	if (!model.voice || !referenceVoice.mediaTypes.includes(type)) {
		throw invalidParameter(`${param}.reference_voice`, `left out for this model and a ${type}`);
	}
	return { type, url, voiceUrl: readLink(item.reference_voice, `${param}.reference_voice`) };
}

type Parameters = Pick<VideoOrder, 'shortSide' | 'ratio' | 'seconds' | 'watermark' | 'seed'>;

function readParameters(
	values: Record<string, unknown>,
	{ parameters: fields, maxDurationWithVideo }: ReferenceVideoModel,
	media: MediaItem[],
): Parameters {
	const param = (name: keyof typeof fields) => `parameters.${name}`;
	const withVideo = media.some(({ type }) => type === 'reference_video');
	const duration =
		withVideo && maxDurationWithVideo !== undefined
			? { ...fields.duration, max: maxDurationWithVideo }
			: fields.duration;

	// Checked only: this gateway does not rewrite prompts.
	readBoolean(fields.prompt_extend, values.prompt_extend, param('prompt_extend'));
	return {
		// "720P" names the shorter side.
		shortSide: parseInt(
			String(readText(fields.resolution, values.resolution, param('resolution'))),
		),
		// The model without a ratio has no documented shape. It renders in the default ratio of the other model.
		ratio: (fields.ratio && readText(fields.ratio, values.ratio, param('ratio'))) ?? '16:9',
		seconds: Number(readNumber(duration, values.duration, param('duration'))),
		watermark: Boolean(readBoolean(fields.watermark, values.watermark, param('watermark'))),
		seed: fields.seed && readNumber(fields.seed, values.seed, param('seed')),
	};
}
