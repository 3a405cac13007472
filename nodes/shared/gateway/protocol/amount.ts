import { asText, valueAt, withoutUndefined, type JsonObject } from '../json';
import { referenceVideoModels } from './models';

/** How much a request orders, which is what a price counts. */
export interface Amount {
	/** What is charged: each video or image, or the tokens of a text. */
	kind: 'video' | 'image' | 'text';
	model: string;
	/** Of images; undefined where the request does not give a number. */
	count?: number;
	/** Of the video; undefined where the request does not say. */
	seconds?: number;
	/** Of the video, such as `1080P`; undefined where the request does not say. */
	resolution?: string;
}

/** Of the request for a reference video, with the defaults of known models ("Endpoints" 1 and 11). */
export function referenceVideoAmount(body: JsonObject): Amount {
	const model = asText(body.model) ?? '';
	const { duration, resolution } = Object.hasOwn(referenceVideoModels, model)
		? referenceVideoModels[model].parameters
		: {};
	const given = (name: string) => valueAt(body, `parameters.${name}`);
	return {
		...{ kind: 'video', model },
		...withoutUndefined({
			seconds: asNumber(given('duration') ?? duration?.default),
			resolution: asText(given('resolution') ?? resolution?.default),
		}),
	};
}

/** Of the request for a video ("Endpoints" 11), whose length the specification does not name. */
export const videoAmount = (body: JsonObject): Amount => ({
	...{ kind: 'video', model: asText(body.model) ?? '' },
	...withoutUndefined({ seconds: asNumber(body.seconds ?? body.duration) }),
});

/** Of the request for images ("Endpoints" 8 to 10), one unless it says how many. */
export const imageAmount = (body: JsonObject): Amount => ({
	...{ kind: 'image', model: asText(body.model) ?? '' },
	...withoutUndefined({ count: asNumber(body.n ?? 1) }),
});

/** Of the request for a text or for vectors ("Endpoints" 4 to 6), whose tokens the response tells. */
export const textAmount = (body: JsonObject): Amount => ({
	kind: 'text',
	model: asText(body.model) ?? '',
});

function asNumber(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : undefined;
}
