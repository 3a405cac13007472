import { GatewayError, type Failure } from '../../service/errors/gatewayError';
import { idInSentence, markedReport } from '../agent/dataNotice';
import { adviceOf } from './advice';
import type { ErrorRecord } from './errorRecord';

/**
 * The text of a tool's error, for the model of an agent: what happened, marked as data unless this package alone wrote
 * it, and then what the model can do. n8n passes on only one text.
 * @param facts more of what happened, in sentences that quote others
 */
export function toolErrorText(error: unknown, record: ErrorRecord, facts: string[]): string {
	const failure = error instanceof GatewayError ? error.failure : undefined;
	const message = `${record.message}.`;
	if (failure && isOwn(failure)) return toolText(facts, [message, record.advice]);
	const charge = record.billed === 'no' && record.status > 0 ? 'Nothing was charged.' : '';
	const quoted = !failure
		? [record.advice]
		: failure.lastPoll
			? [`${failure.lastPoll.message}.`]
			: [];
	const advice = failure ? adviceOf(inOwnWords(failure)) : '';
	return toolText([message, ...quoted, ...facts], [charge, advice]);
}

function toolText(report: string[], own: string[]): string {
	const data = sentences(report);
	return withoutErrorNames(sentences([data && markedReport(data), ...own]));
}

const sentences = (parts: string[]) => parts.filter((part) => part !== '').join(' ');

/** Whether the failure is a decision of this package, such as a limit that is reached, and quotes nobody. */
const isOwn = ({ message, reach, kind, job, made }: Failure) =>
	reach === 'none' && !kind && !job && !made && !/["“]/.test(message);

const above = 'see above';

/** The same failure, so that the advice on it quotes nobody. */
function inOwnWords({ job, lastPoll, ...failure }: Failure): Failure {
	return {
		...failure,
		...(job && { job: { ...job, id: idInSentence(job.id, `(${above})`) } }),
		...(lastPoll && { lastPoll: { ...inOwnWords(lastPoll), message: above } }),
	};
}

/** `COMMON_ERRORS` of n8n-workflow. n8n finds them in upper and lower case, and within words. */
const replacedNames = new RegExp(
	[
		...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'ERRADDRINUSE', 'EADDRNOTAVAIL'],
		...['ECONNABORTED', 'EHOSTUNREACH', 'EAI_AGAIN', 'ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES'],
		...['EEXIST', 'EPERM', 'GETADDRINFO'],
	].join('|'),
	'gi',
);

/** n8n replaces a tool's error that has one of these names with its own text, such as "retry immediately". */
function withoutErrorNames(text: string): string {
	return text.replace(replacedNames, 'network error');
}
