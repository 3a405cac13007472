import { asText, excerpt, isObject, textAt, valueAt } from '../json';
import { billing } from '../protocol/service';

/** The fields of the error object, tolerant of the shapes that gateways and proxies send instead. */
export interface ErrorObject {
	message?: string;
	code?: string;
	type?: string;
	param?: string;
}

/** Short, whatever an answer holds: it stands in the middle of messages. */
function shortTextAt(value: unknown, ...paths: string[]): string | undefined {
	const text = textAt(value, ...paths);
	return text && excerpt(text, 100);
}

/** Undefined when the body carries no error of the service ("Resources", error object). */
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
	const found: ErrorObject = {
		message: textAt(source, 'message', 'msg', 'detail', 'error_message'),
		code: shortTextAt(source, 'code', 'error_code'),
		type: shortTextAt(source, 'type'),
		param: shortTextAt(source, 'param'),
	};
	return found.message === undefined && found.code === undefined ? undefined : found;
}

/** "What the service does", billing rule 3; some answers carry it in the body too. */
export function requestIdOf(headers: Record<string, string>, body?: unknown): string | undefined {
	return (
		asText(headers[billing.requestIdHeader]) ?? shortTextAt(body, 'request_id', 'error.request_id')
	);
}

/** Why a job failed: the inner fields of its `error` are not shown, so every likely form is read. */
export function jobFailureReason(job: unknown): ErrorObject {
	for (const body of [job, valueAt(job, 'output'), valueAt(job, 'data')]) {
		if (!isObject(body)) continue;
		const said = body.error ? readErrorObject({ error: body.error }) : undefined;
		if (said) return said;
		const message = textAt(body, 'failure_reason', 'fail_reason', 'message', 'reason');
		if (message !== undefined) return { message, code: shortTextAt(body, 'code') };
	}
	const error = valueAt(job, 'error');
	const isEmpty = !error || (typeof error === 'object' && Object.keys(error).length === 0);
	return isEmpty ? {} : { message: excerpt(JSON.stringify(error)) };
}
