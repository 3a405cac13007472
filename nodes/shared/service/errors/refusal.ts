import { valueAt } from '../json';
import { maxReasonLength } from '../protocol/bounds';
import type { Cost, Endpoint } from '../protocol/endpoints';
import {
	balanceWords,
	contentWords,
	eitherLimitWords,
	jobMadeWords,
	keyWords,
	lastingLimitWords,
	mediaWords,
	moderationWords,
	notFoundWords,
	permissionWords,
	rateLimitWords,
	refusalOfCode,
	statusRefusals,
	statusWords,
	timeLimitWords,
	unknownModelWords,
	upstreamWords,
	type RefusalKind,
} from '../protocol/errorCodes';
import { knownModels } from '../protocol/models';
import { jobIdInText } from '../reader/jobId';
import type { ErrorObject } from '../reader/reason';
import type { Failure, OtherModel } from './gatewayError';
import type { JobSummary } from './jobSummary';
import type { SentRequest } from './verdict';

/** A provider may go on with its work behind these. */
const mayTimeOut: RefusalKind[] = ['serverError', 'providerError', 'missingMediaOrServerError'];

/**
 * Why the service refused, or in what it failed. `timedOut` when the order may be made all the same: after a time limit,
 * or when the error speaks of the job or has its ID.
 */
export function refusalOf(
	status: number,
	error: ErrorObject,
	request: SentRequest,
	body = '',
): RefusalKind {
	const kind = causeOf(status, error, request);
	const { code = '', type = '', message = '' } = error;
	const said = `${status} ${code} ${type} ${message.slice(0, maxReasonLength)}`;
	// No status says that the request was wrong when the error is inside a 2xx. In a poll, it may be why the job failed.
	const isUnsure = kind === 'badRequest' && status < 400 && request.cost !== 'read';
	const mayBe = isUnsure || mayTimeOut.includes(kind);
	const isOfJob = () => jobMadeWords.test(said) || jobNamedIn(body, request) !== undefined;
	const isMade = request.cost === 'job' && mayBe && isOfJob();
	return isMade || (mayBe && timeLimitWords.test(said)) ? 'timedOut' : kind;
}

/** The job that an error names beside its reason. An `id` alone may be that of anything. */
export function jobNamedIn(body: string, { media }: SentRequest): JobSummary | undefined {
	const id = jobIdInText(body, 'task');
	return id === undefined ? undefined : { kind: media === undefined ? 'video' : 'task', id };
}

/** The code takes precedence: an empty balance has the same status as the rate limit. */
function causeOf(status: number, error: ErrorObject, { cost, media }: SentRequest): RefusalKind {
	const { code = '', type = '' } = error;
	const message = (error.message ?? '').slice(0, maxReasonLength);
	const said = statusOf(error);
	// Services refuse a request that comes too fast with these statuses, too, and make nothing.
	const isTooFast = [400, 403].includes(status) && said === 429;
	const effectiveStatus = status < 400 || isTooFast ? said : status;
	const isOneOf = (...statuses: number[]) => statuses.includes(effectiveStatus);
	const words = [code, type, message].join('\n');
	const known = refusalOfCode(error);
	const isBalance =
		(status === 429 && lastingLimitWords.test(words)) ||
		((status === 429 || !known) && balanceWords.test(words));
	const mayBeBalance =
		isOneOf(400, 402, 403, 429) &&
		known !== 'responseNotDelivered' &&
		!(status === 429 && eitherLimitWords.test(message));
	if (mayBeBalance && isBalance) return 'quotaExceeded';
	if (known) return known;
	if (isOneOf(400, 403) && keyWords.test(words)) return 'invalidKey';
	// The type is left out, since it only repeats the status.
	const reason = `${code} ${message}`;
	// A read requests only what its address names.
	if (cost === 'read' && isOneOf(400, 422) && notFoundWords.test(reason)) {
		return 'notFound';
	}
	// Another request can be unknown only by its path, its media and its model.
	const isOfModel = unknownModelWords.test(reason) && !mediaWords.test(reason);
	if (cost !== 'read' && isOneOf(400, 404) && isOfModel) return 'unknownModel';
	if (isOneOf(500) && media !== undefined) {
		const isBlamed = mediaWords.test(reason) && !upstreamWords.test(reason);
		return media === 'none' || isBlamed ? 'missingMedia' : 'missingMediaOrServerError';
	}
	const isModerated = isOneOf(400, 403) && moderationWords.test(reason);
	// A create may be refused for its content also when the response names neither cause, or both.
	const isForbidden = permissionWords.test(reason);
	const isUnclear = isModerated === isForbidden && (isModerated || cost === 'job');
	if (isOneOf(403) && isUnclear) return 'forbidden';
	if (isModerated) return 'refusedContent';
	return statusRefusals[effectiveStatus] ?? (effectiveStatus < 500 ? 'badRequest' : 'serverError');
}

/** The status that fits the words of an error, such as one inside a 2xx response. */
function statusOf({ code = '', type = '', message = '' }: ErrorObject): number {
	if (/^[45]\d\d$/.test(code)) return Number(code);
	const [status] = statusWords.find(([, words]) => words.test(`${code} ${type}`)) ?? [400];
	return rateLimitWords.test(message.slice(0, maxReasonLength)) ? 429 : status;
}

/** Undefined for a model of this endpoint, and for one whose kind is not known. */
export function otherModelIn(
	{ models }: Endpoint,
	{ body, form }: { body?: object; form?: FormData },
): OtherModel | undefined {
	const id = form ? form.get('model') : valueAt(body, 'model');
	const kind = typeof id === 'string' ? knownModels.get(id)?.kind : undefined;
	return kind === undefined || kind === models ? undefined : { id: String(id), kind };
}

const mayBlameModel = ['badRequest', 'notFound', 'serverError', 'missingMediaOrServerError'];

export function isModelBlamed(
	{ id }: OtherModel,
	kind: RefusalKind,
	{ param, message = '' }: ErrorObject,
): boolean {
	const isNamed = param === 'model' || message.includes(id) || /\bmodel/i.test(message);
	return kind === 'unknownModel' || (isNamed && mayBlameModel.includes(kind));
}

/**
 * Whether a refusal is about the model, its group or its load, and says that nothing was made ("Errors"). No other model
 * gets a prompt that may have been refused for its content.
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
	if (cost === 'job') return kind === 'providerError' && status === 500;
	return kind === 'providerError' || kind === 'serverError';
}

/** Whether neither this try nor an earlier one of the order can have made anything. */
export const mayTryOtherModel = ({ refusesModel: isRefused, reach, billed }: Failure): boolean =>
	isRefused === true && reach === 'answered' && billed === 'no';
