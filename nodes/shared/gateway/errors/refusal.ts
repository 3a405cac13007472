import { maxReasonLength } from '../protocol/bounds';
import type { Endpoint } from '../protocol/endpoints';
import {
	balanceWords,
	errorCodes,
	keyWords,
	lastingLimitWords,
	meaningOf,
	mediaWords,
	missingMedia,
	moderationWords,
	notFoundWords,
	permissionWords,
	rateLimitWords,
	statusMeanings,
	statusWords,
	upstreamWords,
	type ErrorMeaning,
} from '../protocol/errorCodes';
import type { ErrorObject } from '../reader/reason';

/** What the cause of a refusal depends on, besides the response. */
export interface RefusedRequest extends Pick<Endpoint, 'cost' | 'statusMeanings'> {
	/** Whether the endpoint takes reference media, and the request had none. */
	hasNoMedia?: boolean;
}

/** Why the service refused. The code takes precedence: an empty balance has the same status as the rate limit. */
export function refusalOf(
	status: number,
	error: ErrorObject,
	{ cost, statusMeanings: ownMeanings = {}, hasNoMedia = false }: RefusedRequest,
): ErrorMeaning {
	const { code = '', type = '' } = error;
	const message = (error.message ?? '').slice(0, maxReasonLength);
	const effectiveStatus = status < 400 ? statusOf(error) : status;
	const words = [code, type, message].join('\n');
	const codeMeaning = meaningOf(error);
	const isUndelivered = codeMeaning?.refusal === 'responseNotDelivered';
	const mayBeBalance = [400, 402, 403, 429].includes(effectiveStatus) && !isUndelivered;
	const isBalance =
		(status === 429 && lastingLimitWords.test(words)) ||
		((status === 429 || !codeMeaning) && balanceWords.test(words));
	if (mayBeBalance && isBalance) return errorCodes.quota_exceeded;
	if (codeMeaning) return codeMeaning;
	if ([400, 403].includes(effectiveStatus) && keyWords.test(words)) return statusMeanings[401];
	// The type is left out, since it only repeats the status.
	const reason = `${code} ${message}`;
	// A read requests only what its address names.
	const mayName = cost === 'read' && [400, 422].includes(effectiveStatus);
	const isNotFound = mayName && notFoundWords.test(reason);
	if (isNotFound) return statusMeanings[404];
	const byStatus =
		ownMeanings[effectiveStatus] ??
		statusMeanings[effectiveStatus] ??
		statusMeanings[effectiveStatus < 500 ? 400 : 500];
	if (byStatus.refusal === 'mediaOrServerError') {
		const isBlamed = mediaWords.test(reason) && !upstreamWords.test(reason);
		return hasNoMedia || isBlamed ? missingMedia : byStatus;
	}
	const isModerated = moderationWords.test(reason);
	if (effectiveStatus === 400 && isModerated) return { ...byStatus, refusal: 'moderated' };
	if (effectiveStatus !== 403) return byStatus;
	const isForbidden = permissionWords.test(reason);
	// When the response names neither cause, the endpoint's table decides; when it names both, either is possible.
	if (!isModerated && !isForbidden) return byStatus;
	const named = isModerated ? 'moderated' : 'notPermitted';
	return { ...byStatus, refusal: isModerated && isForbidden ? 'forbidden' : named };
}

/** The status that fits an error inside a 2xx response. */
function statusOf({ code = '', type = '', message = '' }: ErrorObject): number {
	if (/^[45]\d\d$/.test(code)) return Number(code);
	const [status] = statusWords.find(([, words]) => words.test(`${code} ${type}`)) ?? [400];
	return rateLimitWords.test(message.slice(0, maxReasonLength)) ? 429 : status;
}
