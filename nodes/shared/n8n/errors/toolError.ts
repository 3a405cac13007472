import { GatewayError, type Failure } from '../../service/errors/gatewayError';
import { idInSentence, markedReport } from '../agent/dataNotice';
import { adviceOf, sentences, type Sentence } from './advice';
import { chargeOf, type ErrorRecord } from './errorRecord';
import { words } from '../../service/words';

/**
 * The only text of a tool's error that n8n passes on to the model of an agent: what happened, marked as data, then what
 * the model can do.
 * @param facts more of what happened, in sentences that quote others
 */
export function toolErrorText(error: unknown, record: ErrorRecord, facts: Sentence[]): string {
	const failure = error instanceof GatewayError ? error.failure : undefined;
	const lastPoll = failure?.lastPoll && `${failure.lastPoll.message}.`;
	const report = [`${record.message}.`, failure ? lastPoll : record.advice, ...facts];
	const own = [chargeOf(record), failure && adviceOf(inOwnWords(failure))];
	const text = sentences([markedReport(sentences(report)), ...own]);
	// n8n replaces a tool's error that has one of these names with its own text, such as "retry immediately".
	return text.replace(replacedNames, 'network error');
}

const above = 'see above';

/** The failure without texts of others: the advice on it is not marked as data. */
function inOwnWords({ job, lastPoll, ...failure }: Failure): Failure {
	return {
		...failure,
		...(job && { job: { ...job, id: idInSentence(job.id, `(${above})`) } }),
		...(lastPoll && { lastPoll: { ...inOwnWords(lastPoll), message: above } }),
	};
}

/** `COMMON_ERRORS` of n8n-workflow. n8n finds them in upper and lower case, and within words. */
const replacedNames = new RegExp(
	words(`
		ECONNREFUSED ECONNRESET ENOTFOUND ETIMEDOUT ERRADDRINUSE EADDRNOTAVAIL ECONNABORTED EHOSTUNREACH
		EAI_AGAIN ENOENT EISDIR ENOTDIR EACCES EEXIST EPERM GETADDRINFO
	`).join('|'),
	'gi',
);
