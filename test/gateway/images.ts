import { invalidParameter } from './errors';
import { frameSize, type Size } from './rendering';
import { publish, type Service } from './service';
import { imageTokens, tokensOf } from './tokens';

/** How many pictures one call may ask for: only the name of the field is shown. */
export const amount = { type: 'integer', min: 1, max: 10, default: 1 } as const;

const pixels = { min: 16, max: 4096 };

/** `1024x1792`, width by height. */
export function readSize(value: string): Size {
	const [, width, height] = /^(\d+)x(\d+)$/.exec(value)?.map(Number) ?? [];
	const isGood = (length: number) => length >= pixels.min && length <= pixels.max;
	if (isGood(width) && isGood(height)) return { width, height };
	throw invalidParameter('size', `width x height, each from ${pixels.min} to ${pixels.max}`);
}

/** The widest shape shown is 21:9; upright ones go as far. */
const widest = 21 / 9;

/** `16:9`: gives a picture of this shape. */
export function readAspectRatio(value: string, shortSide: number): Size {
	const [, width, height] = /^(\d+):(\d+)$/.exec(value)?.map(Number) ?? [];
	if (Math.max(width / height, height / width) <= widest) return frameSize(shortSide, value);
	throw invalidParameter('aspect_ratio', 'a shape such as 16:9, from 9:21 to 21:9');
}

/** What a request counts for where tokens are billed. */
interface ImageUsage {
	input_tokens: number;
	output_tokens: number;
	total_tokens: number;
}

/** @param pictures how many came with the prompt, and how many were made of it */
export function imageUsage(prompt: string, pictures: { given: number; made: number }): ImageUsage {
	const input_tokens = tokensOf(prompt).length + imageTokens * pictures.given;
	const output_tokens = imageTokens * pictures.made;
	return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

/** Pictures that were made for a request, and how they are handed out. */
interface ImageResult {
	pictures: Uint8Array[];
	usage: ImageUsage;
	/** See {@link publish}. */
	linkSeconds?: number;
	/** `b64_json` for bytes in place of links: not in the specification, and yet sent by clients. */
	format: unknown;
}

/** "Resources", image result: other fields than the link are not shown; these two are how the wire format has them. */
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
