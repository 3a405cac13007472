import { GatewayError, type Failure } from '../../gateway/errors/gatewayError';
import { withoutUndefined } from '../../gateway/json';
import { adviceOf } from './advice';

/** What a failure shows, both in the error panel and on the error output. */
export interface ErrorRecord extends Pick<
	Failure,
	| 'message'
	| 'status'
	| 'code'
	| 'type'
	| 'param'
	| 'request_id'
	| 'billed'
	| 'retry_can_help'
	| 'raw_body'
	| 'partial_text'
	| 'url'
	| 'job'
> {
	/** What the user can do. */
	advice: string;
}

/** The record of any failure; one that is no GatewayError comes from n8n itself, such as a bad expression. */
export function recordOf(error: unknown): ErrorRecord {
	const message = messageOf(error);
	if (error instanceof GatewayError) return recordOfFailure(message, error.failure);
	const { description } = error as { description?: unknown };
	return {
		message,
		advice: typeof description === 'string' ? description : 'Nothing was sent for this item.',
		status: 0,
		billed: 'no',
		retry_can_help: false,
	};
}

/** The message of {@link recordOf} alone, which is much less work. */
export function messageOf(error: unknown): string {
	if (error instanceof GatewayError) {
		const { message, isStopped } = error.failure;
		// n8n shows an execution as canceled when this word is in the message.
		return isStopped ? 'The execution was canceled' : withMediaLabels(message);
	}
	const { message } = error as { message?: unknown };
	return typeof message === 'string' && message !== '' ? message : 'An unknown error occurred';
}

function recordOfFailure(message: string, { remedies, status, ...failure }: Failure): ErrorRecord {
	const { code, type, param, request_id, billed, retry_can_help } = failure;
	const { raw_body, partial_text, url, job } = failure;
	return {
		message,
		advice: adviceOf(remedies),
		status,
		...withoutUndefined({ code, type, param, request_id }),
		billed,
		retry_can_help,
		...withoutUndefined({ raw_body, partial_text, url, job }),
	};
}

/** What the screen calls the fields of a medium. */
const mediaLabels = new Map([
	['type', 'Type'],
	['url', 'URL'],
	['reference_voice', 'Voice URL'],
]);

/** A message may name a medium by its index and field in the request. The raw body keeps its words. */
export function withMediaLabels(text: string): string {
	return text.replace(
		/\b(?:input\.)?media\[(\d+)\](?:\.(\w+))?/g,
		(_, index: string, field?: string) =>
			`Media ${Number(index) + 1}${field === undefined ? '' : `: ${mediaLabels.get(field) ?? field}`}`,
	);
}
