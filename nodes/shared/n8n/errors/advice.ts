import type { KnownJob, Remedy } from '../../gateway/errors/gatewayError';
import type { AddressProblem } from '../../gateway/errors/networkError';
import type { RefusalKind } from '../../gateway/protocol/errorCodes';
import { limits } from '../../gateway/protocol/limits';
import type { ModelKind } from '../../gateway/protocol/models';

/** The label of the resource whose Create takes models of this kind. */
export const resourceOf: Record<ModelKind, string> = {
	referenceVideo: 'Reference Video',
	video: 'Video',
};

/** What the user can do about a failure, with the labels of n8n's user interface. */
export function adviceOf(remedies: Remedy[]): string {
	return remedies.map(adviceOn).join(' ');
}

const refusalAdvice: Record<RefusalKind, string> = {
	invalidKey: 'Check the API key in the Model Gateway credential.',
	unknownModel:
		'Choose another model from the list, which begins with those that seem to fit, or check the ID that was typed. If it is an image model, it may work with Image: Chat only.',
	unknownVideoModel:
		'Choose a video model from the list, which begins with those that fit, or check the ID that was typed.',
	refusedPrompt: 'Change the prompt; sending the same one again gives the same response.',
	unknownJob: `Check the ID of the job, and whether it was ordered with this credential. The ID of a reference video is valid for ${limits.taskIdHours} hours.`,
	jobNotFinished: 'Use the Wait for Video node, or ask again later.',
	quotaExceeded: 'Top up the account or raise its quota, then run again.',
	invalidImage:
		'Save the image again as a plain PNG or JPEG (a multi-frame file with a .jpg name is refused) and resend it.',
	providerError: 'Run again later. If this keeps happening, check the raw response (raw_body).',
	responseNotDelivered: 'Run again; the call was not charged.',
	badRequest:
		'Correct the value that the response names. If the content was refused for safety, change the prompt or the media.',
	moderated:
		'Content moderation blocked it: change the prompt or the media. Sending the same again gives the same response.',
	notPermitted:
		"The key lacks the permission. Ask the account's owner for it, or choose another model.",
	forbidden:
		"Either content moderation blocked it (change the prompt or the media), or the key's group may not use this model (ask the account's owner).",
	notFound: `Check the ID, and the Base URL in the credential. The ID of a reference video is valid for ${limits.taskIdHours} hours.`,
	knownOrder:
		"The job may have been accepted and may be running, so do not order it again: you could be charged twice. n8n's Retry of this execution asks the gateway again with the same key; wait a minute first. If this keeps happening, order it again only if a second video is acceptable.",
	serverTimeout: 'Run again.',
	missingMedia:
		'Add the reference media that are missing, and check that anyone can open their links. Sending the same again gives the same response.',
	mediaOrServerError:
		'Check the raw response (raw_body): if it names media, add or correct them; if not, run again later.',
	tooManyRequests:
		'Lower Parallel Requests, where the node has it, set Requests per Second in the credential, or run again later. If this keeps happening, check the balance.',
	serverError: 'Check the raw response (raw_body), then run again later.',
};

const notBilled =
	'The service does not bill a call without a response, but does not say whether its job runs all the same.';

/** Advice about an order whose job may be running. */
function adviceOnUnknownOutcome({
	hasKey,
	isUnbilled = false,
	isResent = false,
	isOnly = false,
}: Extract<Remedy, { about: 'mayBeAccepted' }>): string {
	if (hasKey) {
		return "The job may have been accepted and may be running, so do not order it again: you could be charged twice. n8n's Retry of this execution sends it again with the same key. The gateway recognizes the key and makes no second job.";
	}
	const resent = isOnly
		? 'The job may have been accepted and may be running.'
		: 'The option "If No Response Arrives" sends it again after such a try, so more than one job may have been accepted and may be running.';
	return [
		isResent
			? resent
			: 'The job may have been accepted and may be running, so it was not sent again: you could be charged twice.',
		...(isUnbilled ? [notBilled] : []),
		'The billing log proves nothing here: it lists only what was charged.',
		isResent
			? 'Order again only if a second video is acceptable.'
			: 'Order again only if a second video is acceptable, by hand or with the option "If No Response Arrives" set to "Send Again".',
	].join(' ');
}

function adviceOn(remedy: Remedy): string {
	switch (remedy.about) {
		case 'refusal':
			return refusalAdvice[remedy.refusal];
		case 'otherModel': {
			const { id, kind } = remedy.model;
			return `${id} is a model of ${resourceOf[kind]}: Create. Choose another model here, or that operation.`;
		}
		case 'retryAfter':
			return `The service asks to wait ${durationOf(remedy.milliseconds)} first.`;
		case 'unreachable':
			if (remedy.host !== undefined) return adviceOnHost(remedy.host, remedy.problem);
			if (remedy.problem === 'blocked') {
				return `n8n's SSRF protection blocks the address of the gateway (${remedy.detail}). ${allowBySsrf('it')} Nothing was sent, so nothing was charged.`;
			}
			return `Check the Base URL in the Model Gateway credential and the network (${remedy.detail}). Nothing was sent, so nothing was charged.`;
		case 'lost': {
			if (remedy.host !== undefined) return adviceOnHost(remedy.host, remedy.problem);
			const longer =
				'If the response needs longer, raise Request Timeout (Seconds) where the node has it.';
			return `The network said: ${remedy.detail}.${remedy.isTimeout ? ` ${longer}` : ''}`;
		}
		case 'lostIsNotBilled':
			return 'The service does not bill a call without a response: run again. If this keeps happening, check the network.';
		case 'mayBeAccepted':
			return adviceOnUnknownOutcome(remedy);
		case 'rawBody':
			return 'The raw response is in raw_body. If it is a web page, the Base URL in the credential does not lead to the gateway.';
		case 'partialText':
			return 'The text received so far is in partial_text.';
		case 'foreignRedirect':
			return 'The API key is never sent to another address. If you trust it, make it the Base URL in the Model Gateway credential.';
		case 'uselessRedirect':
			return 'The request would lose its content on the way, or never arrive. Check the Base URL in the Model Gateway credential, also its path: it has to be the final one.';
		case 'linkCarriesKey':
			return 'The link carries your API key, so it is neither used nor shown. Ask the operator of the gateway to remove the key from its links. Consider the key exposed, and create a new one.';
		case 'nothingMoreSent':
			return 'Nothing more was sent to the gateway.';
		case 'badInput':
			return `Nothing was sent${remedy.isFree ? '' : ' and nothing was charged'}. Correct the fields named above.`;
		case 'jobMayRun':
			return `It may still be running, and you may be charged for it. ${howToCollect(remedy.job)}${remedy.canWaitLonger ? ' Raise Timeout (Minutes) if videos often take longer.' : ''}`;
		case 'lastPollFailed':
			return `The last poll failed: ${remedy.message}.`;
		case 'jobFailed': {
			const cause = remedy.refusal && refusalAdvice[remedy.refusal];
			return `${cause ?? 'Change the prompt or the media if the reason names them.'} To try again, create a new job; a failed one never finishes. The service does not say whether it bills a job that fails after it was accepted.`;
		}
		case 'videoIsKept':
			return `You were charged for the video, and it is not lost. ${howToCollect(remedy.job)}`;
		case 'videoIsFinished':
			return `The video is finished and charged, and it is not lost: collect it by its ID. Its link usually works for ${limits.resultUrlHours} hours.`;
		case 'notStored':
			return `${
				remedy.isFull
					? 'n8n has no space left for files: free some on its disk or in its database'
					: "Check n8n's binary data storage (N8N_DEFAULT_BINARY_DATA_MODE)"
			}. Then press Retry: it fetches the file again.`;
		case 'imageIsPaid':
			return adviceOnImage(remedy);
		case 'reasoningModel':
			return `If ${remedy.model} is a reasoning model, remove: ${remedy.settings.join(', ')}.`;
		case 'other':
			return remedy.text;
	}
}

/** Advice about the host of a file, which is not in the credential. */
function adviceOnHost(host: string, problem?: AddressProblem): string {
	switch (problem) {
		case 'notFound':
			return `Check the network of n8n: its DNS has to know ${host}.`;
		case 'blocked':
			return allowBySsrf(host);
		case 'badCertificate':
			return `Check whether a proxy in the network of n8n replaces the certificate of ${host}. If so, n8n has to trust that proxy (NODE_EXTRA_CA_CERTS).`;
		default:
			return `Check whether a firewall or a proxy keeps n8n from ${host}.`;
	}
}

export const allowBySsrf = (host: string) =>
	`Ask the administrator of n8n to allow ${host} (N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES).`;

/** How to collect a job. The specification limits the lifetime of task IDs only. */
function howToCollect({ id, kind }: KnownJob): string {
	const time = kind === 'video' ? '' : ` within ${limits.taskIdHours} hours`;
	return `Collect it by its ID ${id}${time}: Wait for Video with that Job ID, and no Create before it.`;
}

function adviceOnImage({ hasLink, isLost }: { hasLink: boolean; isLost: boolean }): string {
	const state = isLost
		? `, but ${hasLink ? 'its link no longer works' : 'it cannot be used'}. Executing the workflow again makes a new one and is charged again`
		: '. Fetch it by its link; if the node failed, its retry does so without a new charge';
	const life = `; links of some models live for ${limits.imageUrlMinutes} minutes only`;
	return `The image is made and charged${state}${hasLink ? life : ''}.`;
}

function durationOf(milliseconds: number): string {
	const seconds = Math.ceil(milliseconds / 1000);
	return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
}
