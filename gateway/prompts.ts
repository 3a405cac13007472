import { ServiceError } from './errors';

/** Words in a prompt that provoke what this gateway has no reason to do by itself. */
export const provocations = {
	/** The request is refused by content moderation. */
	blocked: '[blocked]',
	/** The job is accepted and charged, and fails. */
	failure: '[fail]',
	/** The content filter withholds the answer of a chat. */
	filtered: '[filtered]',
	/** A chat image model answers with text alone. */
	noImage: '[no image]',
} as const;

/**
 * Returns the prompt, or throws `invalid_prompt`. Moderation has the status 403 on the passthrough endpoint and, as we
 * read the general table, 400 elsewhere.
 */
export function readPrompt(
	value: unknown,
	param: string,
	{ max = Infinity, moderationStatus = 400 }: { max?: number; moderationStatus?: 400 | 403 } = {},
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
