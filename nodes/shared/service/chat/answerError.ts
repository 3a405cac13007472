import { UnusableResponse } from '../client/response';
import { excerpt, isObject, valueAt } from '../json';
import { hasError, reasonIn } from '../reader/reason';
import { read } from '../reader/values';

/** The error that is in an answer or a part of it; undefined when it has none, or one that says nothing. */
export function errorIn(part: unknown): unknown {
	if (!isObject(part)) return undefined;
	const { error } = part;
	if (error !== undefined && error !== null && hasError(read({ error }))) return error;
	return part.type === 'error' || part.object === 'error' ? part : undefined;
}

/** The first error in a choice of a completion or of a chunk. */
export function errorInChoice(choice: unknown): unknown {
	const parts = [choice, valueAt(choice, 'delta'), valueAt(choice, 'message')];
	return parts.map(errorIn).find((error) => error !== undefined);
}

/**
 * The error that came in place of an answer, or of the rest of it.
 * @param error without the API key; undefined when the response does not say more
 */
export function brokeOffWithError(error: unknown, partialText: string): UnusableResponse {
	if (error === undefined) return new UnusableResponse('broke off with an error', partialText);
	const message = reasonIn(read({ error }))?.message ?? excerpt(JSON.stringify(error));
	return new UnusableResponse(`broke off with an error: ${message}`, partialText, error);
}
