import { asText, isObject, valueAt, withoutUndefined, type JsonObject } from '../json';
import { referenceVideoModels } from './models';

/** The amount that a request orders, in the units of the prices. */
export interface Amount {
	/** A video, an image, or the tokens of a text. */
	kind: 'video' | 'image' | 'text';
	model: string;
	/** Number of videos or images; undefined when the request's value is no number. */
	count?: number;
	/** Length of each video; undefined when the request does not give it. */
	seconds?: number;
	/** Such as `1080P`; undefined when the request does not give it. */
	resolution?: string;
}

const amountOf = (kind: Amount['kind'], body: JsonObject, more: Partial<Amount> = {}): Amount => ({
	kind,
	model: asText(body.model) ?? '',
	...withoutUndefined(more),
});

/** With the defaults of known models ("Endpoints" 1). */
export function referenceVideoAmount(body: JsonObject): Amount {
	const model = asText(body.model) ?? '';
	const { duration, resolution } = Object.hasOwn(referenceVideoModels, model)
		? referenceVideoModels[model].parameters
		: {};
	const given = (name: string) => valueAt(body, `parameters.${name}`);
	return amountOf('video', body, {
		count: countIn(body),
		seconds: highestOf(isDuration, body, asNumber(duration?.default)),
		resolution: asText(given('resolution') ?? resolution?.default),
	});
}

/** The specification shows no field for the length ("Endpoints" 11). */
export const videoAmount = (body: JsonObject): Amount =>
	amountOf('video', body, { count: countIn(body), seconds: highestOf(isDuration, body) });

/** "Endpoints" 8 to 10: one image unless the request gives a number. */
export const imageAmount = (body: JsonObject): Amount =>
	amountOf('image', body, { count: countIn(body) });

/** For a text or vectors ("Endpoints" 4 to 6): the response counts the tokens. */
export const textAmount = (body: JsonObject): Amount => amountOf('text', body);

/**
 * Services take the number of videos or images under these names, without case and underscores. The specification shows
 * `n`, for images; others come from Extra Body.
 */
const isCount =
	/^(?:n|samples|batch_?size|(?:n|num|number|number_?of|max)(?:videos|images|outputs|results|samples|generations)(?:_?per_?prompt)?|(?:video|image|output|sample|candidate)count)$/;

const countIn = (body: JsonObject) => highestOf(isCount, body, 1);

const isDuration = /^(?:seconds|(?:video)?duration(?:seconds|secs?)?)$/;

/**
 * The highest number under these names, in the request or one of its objects: which one the service takes is unknown,
 * and a limit must not be exceeded.
 * @returns undefined when one of them is no number
 */
function highestOf(names: RegExp, body: JsonObject, fallback?: number): number | undefined {
	const fields = [body, ...Object.values(body).filter(isObject)].flatMap(Object.entries<unknown>);
	const given = fields
		.filter(([name, value]) => names.test(plain(name)) && value !== null)
		.map(([, value]) => asNumber(value));
	if (given.length === 0) return fallback;
	return given.includes(undefined) ? undefined : Math.max(...(given as number[]));
}

const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '');

/** A number above 0, also as a text, perhaps with its unit: "8s". */
function asNumber(value: unknown): number | undefined {
	const text =
		typeof value === 'string' ? value.trim().replace(/(?<=\d) ?s(?:ec(?:ond)?s?)?$/i, '') : '';
	const number = text === '' ? value : Number(text);
	return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : undefined;
}
