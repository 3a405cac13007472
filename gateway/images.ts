import { invalidParameter } from './errors';
import { frameSize, type Size } from './rendering';
import { publish, type Service } from './service';
import { imageTokens, tokensOf } from './tokens';

/** How many images one call may request. The specification shows only the name of the field. */
export const amount = { type: 'integer', min: 1, max: 10, default: 1 } as const;

const pixels = { min: 16, max: 4096 };

/** `1024x1792`, width by height. */
export function readSize(value: string): Size {
	const [, width, height] = /^(\d+)x(\d+)$/.exec(value)?.map(Number) ?? [];
	const isGood = (length: number) => length >= pixels.min && length <= pixels.max;
	if (isGood(width) && isGood(height)) return { width, height };
	throw invalidParameter('size', `width x height, each from ${pixels.min} to ${pixels.max}`);
}

/** The widest shape in the specification is 21:9; portrait shapes have the same limit here. */
const widest = 21 / 9;

/** The size of an image of this shape, for example `16:9`. */
export function readAspectRatio(value: string, shortSide: number): Size {
	const [, width, height] = /^(\d+):(\d+)$/.exec(value)?.map(Number) ?? [];
	if (Math.max(width / height, height / width) <= widest) return frameSize(shortSide, value);
	throw invalidParameter('aspect_ratio', 'a shape such as 16:9, from 9:21 to 21:9');
}

/** The usage of a request to a model that is charged by tokens. */
interface ImageUsage {
	input_tokens: number;
	output_tokens: number;
	total_tokens: number;
}

/** @param pictures how many images were given with the prompt, and how many were made */
export function imageUsage(prompt: string, pictures: { given: number; made: number }): ImageUsage {
	const input_tokens = tokensOf(prompt).length + imageTokens * pictures.given;
	const output_tokens = imageTokens * pictures.made;
	return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

/** The images made for a request, and how they are returned. */
interface ImageResult {
	pictures: Uint8Array[];
	usage: ImageUsage;
	/** See {@link publish}. */
	linkSeconds?: number;
	/** `b64_json` returns bytes instead of links. It is not in the specification, but clients send it. */
	format: unknown;
}

/** "Resources", image result: it shows only the link. The other two fields have their form from the wire format. */
export function wordImages(
	service: Service,
	{ pictures, usage, linkSeconds, format }: ImageResult,
): object {
	const data = pictures.map((png) =>
		format === 'b64_json'
			? { b64_json: Buffer.from(png).toString('base64') }
			: { url: publish(service, png, linkSeconds) },
	);
	return { created: Math.floor(service.now() / 1000), data, usage };
}
