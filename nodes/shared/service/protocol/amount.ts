import { asText, valueAt, withoutUndefined, type JsonObject } from '../json';
import { referenceVideoModels } from './models';

/** How much a request orders, in the units of the prices. */
export interface Amount {
	/** The unit that is charged: each video or image, or the tokens of a text. */
	kind: 'video' | 'image' | 'text';
	model: string;
	/** Number of images; undefined when the request's value is no number. */
	count?: number;
	/** Length of the video; undefined when the request does not give it. */
	seconds?: number;
	/** The resolution of the video, such as `1080P`; undefined when the request does not give it. */
	resolution?: string;
}

const amountOf = (kind: Amount['kind'], body: JsonObject, more: Partial<Amount> = {}): Amount => ({
	kind,
	model: asText(body.model) ?? '',
	...withoutUndefined(more),
});

/** The amount of a request for a reference video, with the defaults of known models ("Endpoints" 1). */
export function referenceVideoAmount(body: JsonObject): Amount {
	const model = asText(body.model) ?? '';
	const { duration, resolution } = Object.hasOwn(referenceVideoModels, model)
		? referenceVideoModels[model].parameters
		: {};
	const given = (name: string) => valueAt(body, `parameters.${name}`);
	return amountOf('video', body, {
		seconds: asNumber(given('duration') ?? duration?.default),
		resolution: asText(given('resolution') ?? resolution?.default),
	});
}

/** The amount of a request for a video ("Endpoints" 11); the specification shows no field for its length. */
export const videoAmount = (body: JsonObject): Amount =>
	amountOf('video', body, { seconds: asNumber(body.seconds ?? body.duration) });

/** The amount of a request for images ("Endpoints" 8 to 10): one image unless the request gives a number. */
export const imageAmount = (body: JsonObject): Amount =>
	amountOf('image', body, { count: asNumber(body.n ?? 1) });

/** The amount of a request for a text or vectors ("Endpoints" 4 to 6), whose tokens are counted in the response. */
export const textAmount = (body: JsonObject): Amount => amountOf('text', body);

function asNumber(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : undefined;
}
