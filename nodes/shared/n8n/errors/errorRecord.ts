import { GatewayError, type FailureRecord } from '../../service/errors/gatewayError';
import { withoutUndefined } from '../../service/json';
import { adviceOf } from './advice';

/** Shown in the error panel and on the error output. */
export interface ErrorRecord extends FailureRecord {
	advice: string;
}

/** An error that is no GatewayError comes from n8n itself, for example for an expression. */
export function recordOf(error: unknown): ErrorRecord {
	const message = messageOf(error);
	if (!(error instanceof GatewayError)) {
		const { description } = error as { description?: unknown };
		const advice =
			typeof description === 'string' ? description : 'Nothing was sent for this item.';
		return { message, advice, status: 0, billed: 'no', retry_can_help: false };
	}
	const { status, code, type, param, request_id, billed, retry_can_help } = error.failure;
	const { raw_body, partial_text, url, job } = error.failure;
	return {
		message,
		advice: adviceOf(error.failure),
		status,
		...withoutUndefined({ code, type, param, request_id }),
		billed,
		retry_can_help,
		...withoutUndefined({ raw_body, partial_text, url, job }),
	};
}

export const chargeOf = ({ billed, status }: ErrorRecord): string =>
	billed === 'no' && status > 0 ? 'Nothing was charged.' : '';

/** Only the message of {@link recordOf}, which takes much less time. */
export function messageOf(error: unknown): string {
	if (error instanceof GatewayError) {
		const { message, isStopped } = error.failure;
		// n8n shows an execution as canceled when its message has this word.
		return isStopped ? 'The execution was canceled' : withMediaLabels(message);
	}
	const { message } = error as { message?: unknown };
	return typeof message === 'string' && message !== '' ? message : 'An unknown error occurred';
}

const mediaLabels = new Map([
	['type', 'Type'],
	['url', 'URL'],
	['reference_voice', 'Voice URL'],
]);

/** Replaces paths such as `media[0].url` by the labels in the editor, which count from 1. */
export function withMediaLabels(text: string): string {
	return text.replace(
		/\b(?:input\.)?media\[(\d+)\](?:\.(\w+))?/g,
		(_, index: string, field?: string) =>
			`Media ${Number(index) + 1}${field === undefined ? '' : `: ${mediaLabels.get(field) ?? field}`}`,
	);
}
