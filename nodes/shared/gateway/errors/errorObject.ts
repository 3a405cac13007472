import { excerpt, isObject, textAt, valueAt } from '../json';
import { requestIdHeader } from '../protocol/endpoints';

/** The fields of the error object, tolerant of the shapes that gateways and proxies send instead. */
export interface ErrorObject {
	message?: string;
	code?: string;
	type?: string;
	param?: string;
}

/** Like `textAt`, but short enough for the middle of a message, whatever a response holds. */
function shortTextAt(value: unknown, ...paths: string[]): string | undefined {
	const text = textAt(value, ...paths);
	return text && excerpt(text, 100);
}

/** The error object of a body ("Resources", error object); undefined when there is none. */
export function readErrorObject(body: unknown): ErrorObject | undefined {
	if (!isObject(body)) return undefined;
	const { error } = body;
	if (typeof error === 'string' && error.trim() !== '') {
		return {
			message: error.trim(),
			code: shortTextAt(body, 'code'),
			type: shortTextAt(body, 'type'),
		};
	}
	const source = isObject(error) ? error : body;
	const errorObject: ErrorObject = {
		message: textAt(source, 'message', 'msg', 'detail', 'error_message'),
		code: shortTextAt(source, 'code', 'error_code'),
		type: shortTextAt(source, 'type'),
		param: shortTextAt(source, 'param'),
	};
	return errorObject.message === undefined && errorObject.code === undefined
		? undefined
		: errorObject;
}

/** "What the service does", billing rule 3: from the headers, or else from the body. */
export function requestIdOf(headers: Record<string, string>, body?: unknown): string | undefined {
	return (
		shortTextAt(headers, requestIdHeader) ?? shortTextAt(body, 'request_id', 'error.request_id')
	);
}

/** Why a job failed. The specification does not show the fields of its `error`, so every likely form is read. */
export function jobFailureReason(job: unknown): ErrorObject {
	for (const body of [job, valueAt(job, 'output'), valueAt(job, 'data')]) {
		if (!isObject(body)) continue;
		const errorObject = body.error ? readErrorObject({ error: body.error }) : undefined;
		if (errorObject) return errorObject;
		const message = textAt(body, 'failure_reason', 'fail_reason', 'message', 'reason');
		if (message !== undefined) return { message, code: shortTextAt(body, 'code') };
	}
	const error = valueAt(job, 'error');
	const isEmpty = !error || (typeof error === 'object' && Object.keys(error).length === 0);
	return isEmpty ? {} : { message: excerpt(JSON.stringify(error)) };
}
