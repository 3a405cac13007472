import { UnusableResponse } from '../client/response';
import { reasonIn } from '../reader/reason';
import { excerpt, isObject, valueAt } from '../json';

/** Values that some services always send, and with which they say that all is well. */
const harmless = /^(0|200|false|null|none|no errors?|ok|success(ful)?)?$/i;

/** Whether an error says nothing: it is empty, or says that there is none. */
function saysNothing(error: unknown): boolean {
	if (error === undefined || error === null) return true;
	if (typeof error === 'object') return Object.values(error).every(saysNothing);
	return harmless.test(String(error).trim());
}

/** The error that is in an answer or a part of it; undefined when it has none, or one that says nothing. */
export function errorIn(part: unknown): unknown {
	if (!isObject(part)) return undefined;
	if (!saysNothing(part.error)) return part.error;
	return part.type === 'error' || part.object === 'error' ? part : undefined;
}

/** Whether a part of a chat completion says that it ended with an error. */
export const endsWithError = (choice: unknown) => valueAt(choice, 'finish_reason') === 'error';

/** The first error in a choice of a completion or of a chunk. */
export function errorInChoice(choice: unknown): unknown {
	const parts = [choice, valueAt(choice, 'delta'), valueAt(choice, 'message')];
	return parts.map(errorIn).find((error) => error !== undefined);
}

/**
 * The error that came in place of an answer, or of the rest of it.
 * @param error undefined when the response does not say more
 * @param redact removes the API key from what is quoted
 */
export function brokeOffWithError(
	error: unknown,
	partialText: string,
	redact = (text: string) => text,
): UnusableResponse {
	if (error === undefined) return new UnusableResponse('broke off with an error', partialText);
	const message = reasonIn({ error })?.message ?? excerpt(redact(JSON.stringify(error)));
	return new UnusableResponse(`broke off with an error: ${message}`, partialText, error);
}
