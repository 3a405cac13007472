import { asText, isObject } from '../json';
import type { Cost } from '../protocol/endpoints';
import {
	balanceWords,
	moderationWords,
	refusalOfCode,
	notFoundWords,
	permissionWords,
} from '../protocol/errorCodes';
import { phaseOf } from '../protocol/jobs';
import { hasError, reasonIn, saysWhy, type ErrorObject } from './reason';
import { plainNames, read, type Answer, type Value } from './values';

/** Fields that say whether a request was accepted. */
const outcomeNames = plainNames(`
		code error_code err_code errno err_no status_code ret ret_code result_code success is_success succeeded
		successful accepted
	`);
const stateNames = plainNames('ok', 'status', 'state');

/** Without those of a time limit that passed: the job may be running. */
const refusingWords =
	/audit|insufficient|not enough|invalid|illegal|unsupported|not supported|denied|forbidden|unauthori|refus|reject|exceed|too (?:many|long|large)|limit|throttl|missing|required|no available|unavailable|disabled|suspended|arrear|expired key|balance|quota|credits?|queue is full|不足|无效|错误|失败|超出|超过|限制|不支持|拒绝|欠费|无权|未授权|违规|敏感/i;

/** The request was accepted, or may have been. */
const acceptingWords =
	/success|succeed|accepted|submitted|queued|in[ _]queue|pending|created|started|processing|in progress|running|scheduled|\bok\b|time[d ]?[ -_]?out|成功|已提交|处理中|排队|超时/i;

/** Fields about the call, whatever they hold. */
const callNames = plainNames(`
		request_id x_request_id trace_id log_id type param object model version timestamp time ts date
		created host path method failed_count input_sensitive_type output_sensitive_type
	`);

/**
 * Why a 2xx answer without an `error` object refuses the request: some services, but not the specification, put a code
 * and a reason in place of the result. Undefined unless the answer clearly says no and has nothing else, because an
 * accepted request may be charged.
 */
export function statedRefusal(body: unknown, cost: Cost): ErrorObject | undefined {
	const answer = read(body);
	const error = isObject(body) && answer.isWhole ? reasonIn(answer) : undefined;
	if (!error) return undefined;
	// A poll is sent again in any case, so only a code of the service is clear enough.
	if (cost === 'read') return refusalOfCode(error) && error;
	const { values } = answer;
	const reason = `${error.code ?? ''} ${error.message ?? ''}`;
	const outcomes = values.flatMap((value) => outcomeOf(value) ?? []);
	// Only a job is fetched by an ID.
	const others = cost === 'job' ? values : values.filter(({ name }) => name !== 'id');
	if (outcomes.includes('yes') || acceptingWords.test(reason) || others.some(mayBeResult)) {
		return undefined;
	}
	const isSure = outcomes.includes('no') || hasError(answer) || balanceWords.test(reason);
	if (isSure || refusalOfCode(error) !== undefined) return error;
	const refusing = [refusingWords, notFoundWords, permissionWords, moderationWords];
	const isRefusing = refusing.some((each) => each.test(reason));
	return outcomes.includes('unclear') && isRefusing ? error : undefined;
}

/** Whether no part of an answer says that the request was refused, and no unclear part is about a failure. */
export function mayBeAccepted(answer: Answer): boolean {
	const outcomes = answer.values.map(outcomeOf);
	if (hasError(answer) || outcomes.includes('no')) return false;
	const { message = '' } = reasonIn(answer) ?? {};
	return !outcomes.includes('unclear') || message === '' || acceptingWords.test(message);
}

/** Whether a field says that the request was accepted; undefined if it does not say. */
function outcomeOf({ name, value }: Value): 'yes' | 'no' | 'unclear' | undefined {
	const text = String(value).trim();
	const isState = stateNames.has(name) || (name === 'result' && typeof value === 'boolean');
	if (text === '' || !(isState || outcomeNames.has(name))) return undefined;
	const phase = phaseOf(text);
	if (/^(?:true|yes|y|ok|2\d\d)$/i.test(text) || (phase && phase !== 'failed')) return 'yes';
	if (/^(?:false|no|n)$/i.test(text) || phase === 'failed') return 'no';
	// Many services use 408 and 504 for a job that goes on, and other numbers for success.
	if (/^(?:4(?!08)\d\d|50[0-35-9]|-\d+)$/.test(text)) return 'no';
	return isState || /^(?:0+|1|408|504)$/.test(text) ? undefined : 'unclear';
}

/** Whether a field may name or hold what the service has made. */
function mayBeResult({ name, value }: Value): boolean {
	const isKnown =
		outcomeNames.has(name) || stateNames.has(name) || callNames.has(name) || saysWhy(name);
	return !isKnown && !/^0?$/.test(asText(value) ?? '');
}
