import { maxReasonLength } from '../protocol/bounds';
import type { Cost } from '../protocol/endpoints';
import {
	contentWords,
	moderationWords,
	timeLimitWords,
	type RefusalKind,
} from '../protocol/errorCodes';
import type { ErrorObject } from '../reader/reason';
import type { Failure } from './gatewayError';

/**
 * Whether a refusal of the service is about the model, its group or its load, and says that nothing was made ("Errors").
 * One that may be about the content is not: no model gets a prompt that was refused. Pure.
 */
export function refusesModel(
	kind: RefusalKind,
	{ code = '', type = '', message = '' }: ErrorObject,
	{ cost, status }: { cost: Cost; status: number },
): boolean {
	const reason = `${code} ${type} ${message.slice(0, maxReasonLength)}`;
	if (cost === 'read' || moderationWords.test(reason)) return false;
	if (kind === 'unknownModel' || kind === 'tooManyRequests') return true;
	if (contentWords.test(reason)) return false;
	if (kind === 'notPermitted') return true;
	// After a wait in vain, the result may have been made.
	if (timeLimitWords.test(`${status} ${reason}`)) return false;
	if (cost === 'job') return kind === 'providerError' && status >= 500;
	return kind === 'providerError' || kind === 'serverError';
}

/** Whether the same order may be placed with another model: neither this try nor an earlier one can have made anything. */
export const mayTryOtherModel = ({ refusesModel: isRefused, reach, billed }: Failure): boolean =>
	isRefused === true && reach === 'answered' && billed === 'no';
