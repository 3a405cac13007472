import type { Failure, FailureKind } from '../../service/errors/gatewayError';
import { hasJobFailed, isJobUnknown } from '../../service/errors/jobErrors';
import { shownId, type JobSummary } from '../../service/errors/jobSummary';
import { passes } from '../../service/protocol/errorCodes';
import { limits } from '../../service/protocol/limits';
import type { ModelKind } from '../../service/protocol/models';

/** The label of the resource whose Create takes models of this kind. */
export const resourceOf: Record<ModelKind, string> = {
	referenceVideo: 'Reference Video',
	video: 'Video',
};

const isAboutJob = ({ cost, job }: Failure) => cost === 'read' && job !== undefined;
const nothingMoreSent = 'Nothing more was sent to the gateway.';
const seeRawResponse = 'see the raw response in the details of the error';
const runLater = `Run again later. If this keeps happening, ${seeRawResponse}.`;
const fetchAgain = 'Then press Retry: it fetches the file again.';

/** Advice on each kind of failure. @param address the label of the address to check */
const kinds: Record<FailureKind, string | ((failure: Failure, address: string) => string)> = {
	invalidKey: 'Check the API key in the Model Gateway credential.',
	notPermitted: (failure) =>
		isAboutJob(failure)
			? 'Check whether the job was ordered with the key of this credential.'
			: `The key lacks the permission. Ask the account's owner for it${failure.cost === 'read' ? '' : ', or choose another model'}.`,
	forbidden:
		"Either content moderation blocked it (change the prompt or the media), or the key's group may not use this model (ask the account's owner).",
	quotaExceeded: 'Top up the account or raise its quota, then run again.',
	unknownModel: ({ cost }) =>
		`Choose another model from the list, which begins with those that fit, or check the ID that was typed.${cost === 'job' ? '' : ' If it is an image model, it may work with Image: Chat only.'}`,
	refusedContent:
		'Change the prompt or the media: the content was refused, and sending the same again gives the same response.',
	badRequest:
		'Correct the value that the response names. If the content was refused for safety, change the prompt or the media.',
	tooLarge:
		'The request is too large for the service or for a proxy before it: send less text, or fewer or smaller files.',
	invalidImage:
		'Save the image again as a plain PNG or JPEG (a multi-frame file with a .jpg name is refused) and resend it.',
	missingMedia:
		'Add the reference media that are missing, and check that anyone can open their links. Sending the same again gives the same response.',
	missingMediaOrServerError: `If the response names media, add or correct them; if not, run again later: ${seeRawResponse}.`,
	notFound: adviceOnNotFound,
	gone: adviceOnNotFound,
	jobNotFinished: 'Use the Wait for Video node, or ask again later.',
	tooManyRequests:
		'Lower Parallel Requests, where the node has it, set Requests per Second in the credential, or run again later. If this keeps happening, check the balance.',
	serverError: runLater,
	providerError: runLater,
	timedOut: runLater,
	responseNotDelivered: 'The same request can succeed: run again.',
	// It is an order whose outcome is unknown.
	knownOrder: '',
	proxy:
		'The response is probably of a proxy or a firewall before the service, which refuses the request or asks for a login of its own: ask the administrator of n8n or of the network. The API key is not the cause.',

	unreachable: adviceOnAddress,
	unknownHost: adviceOnAddress,
	closedPort: adviceOnAddress,
	notTls: adviceOnAddress,
	blocked:
		'Ask the administrator of n8n to allow it (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES).',
	badCertificate:
		'If the server, or a proxy before it, has a certificate of its own, n8n has to trust it (NODE_EXTRA_CA_CERTS).',
	deadProxy:
		'n8n connects through this proxy (HTTP_PROXY, HTTPS_PROXY), which does not respond: ask the administrator of n8n.',
	timeout: ({ host }) =>
		host === undefined
			? 'If the response needs longer, raise Request Timeout (Seconds) where the node has it.'
			: '',
	garbled: 'Ask the operator of the server, or of a proxy before it, to correct its responses.',
	unreadable: adviceOnUnreadable,
	cut: adviceOnUnreadable,
	excess: '',
	foreignRedirect:
		'The API key is never sent to another address. If you trust it, make it the Base URL in the Model Gateway credential.',
	uselessRedirect: (_, address) =>
		`The request would lose its content on the way, or never arrive. Check ${address}, also its path: it has to be the final one.`,
	linkCarriesKey:
		'The link carries your API key, so it is neither used nor shown. Ask the operator of the gateway to remove the key from its links. Consider the key exposed, and create a new one.',
	linkLeadsInside: ({ made }) =>
		`This node fetches files from public addresses only, and from the network of the Base URL or Backup URL. If you trust this address, fetch the file with an HTTP Request node.${made === 'video' ? ' With Download switched off, the output has its link.' : ''}`,
	notStored: `Check n8n's binary data storage (N8N_DEFAULT_BINARY_DATA_MODE). ${fetchAgain}`,
	noSpace: `n8n has no space left for files: free some on its disk or in its database. ${fetchAgain}`,
	badInput: ({ cost }) =>
		`${cost === 'read' ? '' : 'Nothing was sent and nothing was charged. '}Correct these fields.`,
	heldBack: nothingMoreSent,
};

function adviceOnNotFound(failure: Failure, address: string): string {
	return isAboutJob(failure)
		? `Check the ID of the job, whether it was ordered with this credential, and its Base URL. The ID of a reference video is valid for ${limits.taskIdHours} hours.`
		: `Check ${address}, also its path${failure.cost === 'read' ? '' : ', and whether the model belongs to this operation'}.`;
}

/** The host of a file is not in the credential. */
function adviceOnAddress({ host }: Failure, address: string): string {
	return host === undefined
		? `Check ${address}, also its port, and the network of n8n.`
		: `Check whether the DNS, a firewall or a proxy keeps n8n from ${host}.`;
}

function adviceOnUnreadable({ partial_text, made, raw_body }: Failure, address: string): string {
	if (partial_text !== undefined || made !== undefined || raw_body === undefined) return '';
	return `If it does not come from the gateway, check ${address}: ${seeRawResponse}.`;
}

export type Sentence = string | false | 0 | undefined;

export const sentences = (parts: Sentence[]): string => parts.filter(Boolean).join(' ');

export function adviceOf(failure: Failure): string {
	const { advice, partial_text, lastPoll, retryAfter, orderAdvice } = failure;
	return sentences([
		advice,
		adviceOnCause(failure),
		partial_text && 'The text received so far is in partial_text.',
		adviceOnOutcome(failure),
		lastPoll && adviceOnLastPoll(lastPoll),
		retryAfter && adviceOnPause(retryAfter),
		orderAdvice,
	]);
}

/** @param address the label of the address that the request went to */
export function adviceOnCause(
	failure: Failure,
	address = 'the Base URL in the Model Gateway credential',
): string {
	const { kind, reach, otherModel, made, billed, isStopped, cost } = failure;
	if (isStopped && billed === 'no') return nothingMoreSent;
	if (otherModel) {
		const { id, kind: kindOfModel } = otherModel;
		return `${id} is a model of ${resourceOf[kindOfModel]}: Create. Choose another model here, or that operation.`;
	}
	if (hasJobFailed(failure)) {
		return 'Change the prompt or the media if the reason names them. To try again, create a new job, with another Order Key if it had one; a failed one never finishes. The service does not say whether it bills a job that fails after it was accepted.';
	}
	// To run again is wrong where the order may have been accepted, and a finished job is known.
	const isSettled = made !== undefined && (passes(kind) || isJobUnknown(failure));
	if (kind === undefined || isSettled || (passes(kind) && isOutcomeUnknown(failure))) return '';
	const advice = kinds[kind];
	const isUnsent = reach === 'unsent' && billed === 'no' && cost !== 'read';
	return `${typeof advice === 'string' ? advice : advice(failure, address)}${isUnsent ? ' Nothing was sent, so nothing was charged.' : ''}`;
}

const isOutcomeUnknown = ({ billed, cost }: Failure) =>
	billed === 'unknown' && (cost === 'job' || cost === 'generation');

function adviceOnOutcome(failure: Failure): string {
	const { made, waitEnded, job, reach, cost, url } = failure;
	if (made !== undefined) return adviceOnMade(failure);
	if (waitEnded !== undefined) {
		const longer =
			waitEnded === 'timeout' ? ' Raise Timeout (Minutes) if videos often take longer.' : '';
		const mayBeReady =
			url === undefined
				? ''
				: ' Its status is unknown, but it has a link, which is in url: try that.';
		return `It may still be running, and you may be charged for it.${mayBeReady}${job ? ` ${howToCollect(job)}` : ''}${longer}`;
	}
	if (isOutcomeUnknown(failure)) return adviceOnUnknownOutcome(failure);
	if (isAboutJob(failure)) return 'This request ordered nothing; the job itself may be charged.';
	return reach === 'lost' && cost !== undefined
		? 'The service does not bill a call without a response: run again. If this keeps happening, check the network.'
		: '';
}

function adviceOnUnknownOutcome(failure: Failure): string {
	const { cost, reach, idempotencyKey, job, requests = 1 } = failure;
	if (cost === 'generation') {
		const sent =
			requests > 1
				? 'It was sent twice, and either may be charged.'
				: 'It may have been made and charged, so it was not sent again.';
		return `${sent} Execute the workflow again only if another charge is acceptable.`;
	}
	if (idempotencyKey !== undefined) {
		return "The job may have been accepted and may be running, so do not order it again: you could be charged twice. n8n's Retry of this execution sends it again with the same key; wait a minute first. The gateway recognizes the key and makes no second job. If this keeps happening, order it again only if a second video is acceptable.";
	}
	const isOne = requests === 1;
	if (job)
		return `The response names a job, which may be running and charged. ${howToCollect(job)}`;
	return sentences([
		isOne
			? 'The job may have been accepted and may be running, so it was not sent again: you could be charged twice.'
			: 'The order was sent again after such a try, so more than one job may have been accepted and may be running.',
		reach !== 'unreadable' &&
			'The service does not bill a call without a response, but does not say whether its job runs all the same.',
		'Its absence from the billing log proves nothing, since that lists only what was charged; an entry of that moment proves that the order was accepted.',
		`Order again only if a second video is acceptable${isOne ? ', by hand or with the option "If No Response Arrives" set to "Send Again"' : ''}.`,
	]);
}

function adviceOnMade({ made, job, kind, url }: Failure): string {
	switch (made) {
		case 'video': {
			const state =
				kind === 'gone'
					? 'but its file is gone, according to the response. Perhaps the job has a new link.'
					: 'and it is not lost.';
			return `The video is finished and charged, ${state} ${job ? howToCollect(job) : 'Collect it by its ID.'}`;
		}
		case 'image':
			return kind === 'linkLeadsInside'
				? 'The image is made and charged. Its link is in url.'
				: `The image is made and charged. Fetch it by its link; if the node failed, its retry does so without a new charge; links of some models live for ${limits.imageUrlMinutes} minutes only.`;
		case 'lostImage':
			return `The image is made and charged, but ${url === undefined ? 'it cannot be used' : 'its link no longer works'}. Executing the workflow again makes a new one and is charged again.`;
		default:
			return 'According to the response, there is no video to fetch. Whether it is charged is not known: ask the operator of the gateway, with the ID of the job.';
	}
}

/** The specification limits the lifetime of task IDs only. */
function howToCollect({ id, kind }: JobSummary): string {
	const time = kind === 'video' ? '' : ` within ${limits.taskIdHours} hours`;
	return `Collect it by its ID ${shownId(id)}${time}: Wait for Video with that Job ID, and no Create before it.`;
}

/** The job may be running, so no advice says to run again, which could order another one. */
function adviceOnLastPoll(lastPoll: Failure): string {
	const { message, kind } = lastPoll;
	const advice = passes(kind) || kind === 'heldBack' ? '' : adviceOnCause(lastPoll);
	return `The last poll failed: ${message}. ${advice}`.trimEnd();
}

/** @param milliseconds more than a month comes from a clock that is wrong */
function adviceOnPause(milliseconds: number): string {
	const minutes = Math.ceil(milliseconds / 60_000);
	if (minutes > 31 * 24 * 60) return '';
	const time = minutes > 2 ? `${minutes} minutes` : `${Math.ceil(milliseconds / 1000)} s`;
	return `The service asks to wait ${time} first.`;
}
