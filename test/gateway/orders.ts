import type { JobKind, MediaType } from '../../nodes/shared/gateway/protocol';
import { ServiceError } from './errors';

/** One piece of reference media, as it was asked for. */
export interface MediaItem {
	type: MediaType;
	url: string;
	voiceUrl?: string;
}

/** What a well-formed request asks for: all that is needed to make the video. */
export interface VideoOrder {
	kind: JobKind;
	model: string;
	prompt: string;
	media: MediaItem[];
	/** Pixels of the shorter side. */
	shortSide: number;
	/** `width:height`. A first frame overrules it. */
	ratio: string;
	seconds: number;
	watermark: boolean;
	seed?: number;
}

/** Words that provoke what a stand-in has no reason of its own to do, when a prompt contains them. */
export const provocations = {
	/** The request is refused by content moderation. */
	blocked: '[blocked]',
	/** The job is accepted and billed, and fails. */
	failure: '[fail]',
} as const;

/**
 * Gives the prompt, or throws `invalid_prompt`.
 * Moderation answers 403 on the passthrough endpoint and, as we read the general table, 400 elsewhere.
 */
export function readPrompt(
	value: unknown,
	param: string,
	{ max = Infinity, moderationStatus }: { max?: number; moderationStatus: 400 | 403 },
): string {
	const refuse = (status: number, message: string) =>
		new ServiceError(status, 'invalid_prompt', message, { param });

	if (typeof value !== 'string' || value === '') throw refuse(400, `${param} is missing`);
	if ([...value].length > max) throw refuse(400, `${param} is longer than ${max} characters`);
	if (value.includes(provocations.blocked)) {
		throw refuse(moderationStatus, 'the prompt was blocked by content moderation');
	}
	return value;
}
