import type { Failure, NetworkFailure } from '../../gateway/errors/gatewayError';
import { hasJobFailed } from '../../gateway/errors/jobErrors';
import { shownId, type JobSummary } from '../../gateway/errors/jobSummary';
import type { AddressProblem } from '../../gateway/errors/networkError';
import { passes, type RefusalKind } from '../../gateway/protocol/errorCodes';
import { limits } from '../../gateway/protocol/limits';
import type { ModelKind } from '../../gateway/protocol/models';

/** The label of the resource whose Create takes models of this kind. */
export const resourceOf: Record<ModelKind, string> = {
	referenceVideo: 'Reference Video',
	video: 'Video',
};

/** What to do about a refusal: a text, or what depends on the request. */
type Advice = string | ((failure: Failure) => string);

const isAboutJob = ({ cost, job }: Failure) => cost === 'read' && job !== undefined;
const taskLife = `The ID of a reference video is valid for ${limits.taskIdHours} hours.`;
const checkBaseUrl = 'Check the Base URL in the Model Gateway credential';

const chooseVideoModel =
	'The model is probably not for this operation. Choose a video model from the list, which begins with those that fit, or check the ID that was typed.';

const refusalAdvice: Record<RefusalKind, Advice> = {
	invalidKey: 'Check the API key in the Model Gateway credential.',
	proxyLogin:
		'A proxy between n8n and the service asks for a login of its own: ask the administrator of n8n or of the network. The API key is not the cause.',
	proxyRefusal:
		'The response is a web page, probably of a proxy or a firewall before the service: ask the administrator of n8n or of the network.',
	unknownModel: ({ cost }) =>
		cost === 'job'
			? chooseVideoModel
			: 'Choose another model from the list, which begins with those that seem to fit, or check the ID that was typed. If it is an image model, it may work with Image: Chat only.',
	unknownVideoModel: chooseVideoModel,
	refusedPrompt: 'Change the prompt; sending the same one again gives the same response.',
	unknownJob: `Check the ID of the job, and whether it was ordered with this credential. ${taskLife}`,
	jobNotFinished: 'Use the Wait for Video node, or ask again later.',
	quotaExceeded: 'Top up the account or raise its quota, then run again.',
	invalidImage:
		'Save the image again as a plain PNG or JPEG (a multi-frame file with a .jpg name is refused) and resend it.',
	providerError:
		'Run again later. If this keeps happening, see the raw response in the details of the error.',
	responseNotDelivered: 'The same request can succeed: run again.',
	badRequest:
		'Correct the value that the response names. If the content was refused for safety, change the prompt or the media.',
	tooLarge:
		'The request is too large for the service or for a proxy before it: send less text, or fewer or smaller files.',
	moderated:
		'Content moderation blocked it: change the prompt or the media. Sending the same again gives the same response.',
	notPermitted: (failure) =>
		isAboutJob(failure)
			? 'Check whether the job was ordered with the key of this credential.'
			: `The key lacks the permission. Ask the account's owner for it${failure.cost === 'read' ? '' : ', or choose another model'}.`,
	forbidden:
		"Either content moderation blocked it (change the prompt or the media), or the key's group may not use this model (ask the account's owner).",
	unexplained:
		"The service does not say why it refuses. Perhaps content moderation blocked it (change the prompt), or the key may not use this model (ask the account's owner).",
	notFound: (failure) =>
		isAboutJob(failure)
			? `Check the ID, and the Base URL in the credential. ${taskLife}`
			: `${checkBaseUrl}, also its path${failure.cost === 'read' ? '' : ', and whether the model belongs to this operation'}.`,
	knownOrder:
		"The job may have been accepted and may be running, so do not order it again: you could be charged twice. n8n's Retry of this execution asks the gateway again with the same key; wait a minute first. If this keeps happening, order it again only if a second video is acceptable.",
	serverTimeout: 'Run again later.',
	missingMedia:
		'Add the reference media that are missing, and check that anyone can open their links. Sending the same again gives the same response.',
	mediaOrServerError:
		'See the raw response in the details of the error: if it names media, add or correct them; if not, run again later.',
	tooManyRequests:
		'Lower Parallel Requests, where the node has it, set Requests per Second in the credential, or run again later. If this keeps happening, check the balance.',
	serverError: 'See the raw response in the details of the error, then run again later.',
};

type Row = [applies: (failure: Failure) => unknown, say: (failure: Failure) => string];

/** What to do about the cause of a failed request. */
const causes: Row[] = [
	[isRefused, adviceOnRefusal],
	[isNetworkToBlame, adviceOnNetwork],
	[
		({ redirect }) => redirect === 'foreign',
		() =>
			'The API key is never sent to another address. If you trust it, make it the Base URL in the Model Gateway credential.',
	],
	[
		({ redirect }) => redirect === 'useless',
		() =>
			`The request would lose its content on the way, or never arrive. ${checkBaseUrl}, also its path: it has to be the final one.`,
	],
];

/**
 * What the user can do, with the labels of n8n's user interface: one sentence for each row that applies. The only place
 * where facts become advice, and nothing reads it back.
 */
const rows: Row[] = [
	[({ advice }) => advice, ({ advice = '' }) => advice],
	[({ isBadInput }) => isBadInput, adviceOnInput],
	[
		({ isHeldBack, isStopped, billed }) => isHeldBack || (isStopped && billed === 'no'),
		() => 'Nothing more was sent to the gateway.',
	],
	[({ otherModel }) => otherModel, adviceOnModel],
	...causes,
	[hasJobFailed, adviceOnFailedJob],
	[
		({ linkCarriesKey }) => linkCarriesKey,
		() =>
			'The link carries your API key, so it is neither used nor shown. Ask the operator of the gateway to remove the key from its links. Consider the key exposed, and create a new one.',
	],
	[({ linkLeadsInside }) => linkLeadsInside, adviceOnInsideLink],
	[({ store }) => store, adviceOnStore],
	[
		isUnexplained,
		() =>
			'The raw response is in the details of the error. If it is a web page, the Base URL in the credential does not lead to the gateway.',
	],
	[({ partial_text }) => partial_text, () => 'The text received so far is in partial_text.'],
	[({ mayBeAccepted }) => mayBeAccepted, adviceOnUnknownOutcome],
	[
		({ cost, job, made }) => cost === 'read' && job && !made,
		() => 'This request ordered nothing; the job itself may be charged.',
	],
	[
		isUnbilledLoss,
		() =>
			'The service does not bill a call without a response: run again. If this keeps happening, check the network.',
	],
	[({ reasoningSettings }) => reasoningSettings, adviceOnReasoning],
	[({ waitEnded, made }) => waitEnded && !made, adviceOnWait],
	[({ made }) => made === 'video', adviceOnVideo],
	[
		({ made }) => made === 'nothing',
		() =>
			'According to the response, there is no video to fetch. Whether it is charged is not known: ask the operator of the gateway, with the ID of the job.',
	],
	[({ made }) => made === 'image' || made === 'lostImage', adviceOnImage],
	[({ lastPoll }) => lastPoll, adviceOnLastPoll],
	[({ retryAfter }) => retryAfter, ({ retryAfter = 0 }) => adviceOnPause(retryAfter)],
	[({ orderAdvice }) => orderAdvice, ({ orderAdvice = '' }) => orderAdvice],
];

/** What the user can do about a failure. */
export function adviceOf(failure: Failure): string {
	return sentencesOf(rows, failure);
}

function sentencesOf(table: Row[], failure: Failure): string {
	const sentences = table.filter(([applies]) => applies(failure)).map(([, say]) => say(failure));
	return sentences.filter((sentence) => sentence !== '').join(' ');
}

function isRefused({ refusal, otherModel, mayBeAccepted, made }: Failure): boolean {
	if (refusal === undefined || otherModel) return false;
	// To run again is wrong where the order may have been accepted.
	if (mayBeAccepted && passes(refusal)) return false;
	// A job that has finished is known, whatever the request for its link says.
	return !(made && (refusal === 'unknownJob' || refusal === 'notFound'));
}

function adviceOnRefusal(failure: Failure): string {
	const advice = refusalAdvice[failure.refusal as RefusalKind];
	return typeof advice === 'string' ? advice : advice(failure);
}

function adviceOnFailedJob({ refusal }: Failure): string {
	const cause = refusal ? '' : 'Change the prompt or the media if the reason names them. ';
	return `${cause}To try again, create a new job; a failed one never finishes. The service does not say whether it bills a job that fails after it was accepted.`;
}

function adviceOnInput({ cost }: Failure): string {
	return `${cost === 'read' ? '' : 'Nothing was sent and nothing was charged. '}Correct these fields.`;
}

function adviceOnModel({ otherModel }: Failure): string {
	if (!otherModel) return '';
	const { id, kind } = otherModel;
	return `${id} is a model of ${resourceOf[kind]}: Create. Choose another model here, or that operation.`;
}

/** Where a file was made and its transfer broke off, there is nothing to do about the network. */
function isNetworkToBlame({ network, made, reach }: Failure): boolean {
	return network !== undefined && !(made && reach === 'lost' && !network.problem);
}

function adviceOnNetwork({ network, reach, billed }: Failure): string {
	if (!network) return '';
	const { host, problem, detail, isTimeout } = network;
	if (host !== undefined) return adviceOnHost(host, problem);
	if (reach === 'unreadable') {
		return `Ask the operator of the gateway, or of a proxy before it, to correct its responses (${detail}).`;
	}
	if (reach === 'lost') {
		const longer = isTimeout
			? ' If the response needs longer, raise Request Timeout (Seconds) where the node has it.'
			: '';
		return `The network said: ${detail}.${longer}`;
	}
	const unsent = billed === 'no' ? ' Nothing was sent, so nothing was charged.' : '';
	return `${adviceOnGatewayAddress(network)}${unsent}`;
}

/** Why no connection to the gateway could be made. */
function adviceOnGatewayAddress({ problem, proxy, detail }: NetworkFailure): string {
	if (proxy !== undefined) {
		return `n8n connects through the proxy ${proxy} (HTTP_PROXY, HTTPS_PROXY), which does not respond: ask the administrator of n8n (${detail}).`;
	}
	switch (problem) {
		case 'blocked':
			return `n8n's SSRF protection blocks the address of the gateway (${detail}). ${allowBySsrf('it')}`;
		case 'badCertificate':
			return `The certificate of the gateway is not accepted (${detail}). If the gateway, or a proxy before it, has a certificate of its own, n8n has to trust it (NODE_EXTRA_CA_CERTS).`;
		case 'notTls':
			return `The server does not speak https:// at this address (${detail}). ${checkBaseUrl}, also its port.`;
		default:
			return `${checkBaseUrl} and the network (${detail}).`;
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

function adviceOnInsideLink({ made }: Failure): string {
	const link = made === 'video' ? ' With Download switched off, the output has its link.' : '';
	return `This node fetches files from public addresses only, and from the network of the Base URL or Backup URL. If you trust this address, fetch the file with an HTTP Request node.${link}`;
}

/** A response that nothing else explains. */
function isUnexplained(failure: Failure): boolean {
	const { reach, partial_text, refusal, made, linkCarriesKey, isExcess, network } = failure;
	const isExplained = partial_text || refusal || made || linkCarriesKey || isExcess || network;
	return reach === 'unreadable' && !isExplained;
}

function isUnbilledLoss({ reach, cost, made, job }: Failure): boolean {
	return reach === 'lost' && cost !== undefined && cost !== 'job' && !made && !job;
}

const notBilled =
	'The service does not bill a call without a response, but does not say whether its job runs all the same.';

/** Advice about a request that may have been accepted. */
function adviceOnUnknownOutcome({ mayBeAccepted, cost, idempotencyKey }: Failure): string {
	const { isUnbilled = false, isResent = false, requests = 1 } = mayBeAccepted ?? {};
	if (cost === 'generation') {
		const sent =
			requests > 1
				? 'It was sent twice, and either may be charged.'
				: 'It may have been made and charged, so it was not sent again.';
		return `${sent} Execute the workflow again only if another charge is acceptable.`;
	}
	if (idempotencyKey !== undefined) {
		return "The job may have been accepted and may be running, so do not order it again: you could be charged twice. n8n's Retry of this execution sends it again with the same key. The gateway recognizes the key and makes no second job.";
	}
	const state = !isResent
		? 'The job may have been accepted and may be running, so it was not sent again: you could be charged twice.'
		: requests === 1
			? 'The job may have been accepted and may be running.'
			: 'The option "If No Response Arrives" sends it again after such a try, so more than one job may have been accepted and may be running.';
	return [
		state,
		...(isUnbilled ? [notBilled] : []),
		'Its absence from the billing log proves nothing, since that lists only what was charged; an entry of that moment proves that the order was accepted.',
		isResent
			? 'Order again only if a second video is acceptable.'
			: 'Order again only if a second video is acceptable, by hand or with the option "If No Response Arrives" set to "Send Again".',
	].join(' ');
}

function adviceOnReasoning({ reasoningSettings }: Failure): string {
	const { model, settings } = reasoningSettings ?? { model: '', settings: [] };
	return `If ${model} is a reasoning model, remove: ${settings.join(', ')}.`;
}

function adviceOnWait({ job, waitEnded }: Failure): string {
	const longer =
		waitEnded === 'timeout' ? ' Raise Timeout (Minutes) if videos often take longer.' : '';
	return `It may still be running, and you may be charged for it.${job ? ` ${howToCollect(job)}` : ''}${longer}`;
}

/** The job of the wait may be running, so nothing says to run again: that could order another one. */
function adviceOnLastPoll({ lastPoll }: Failure): string {
	if (!lastPoll) return '';
	const { message, refusal } = lastPoll;
	const advice = passes(refusal) ? '' : ` ${sentencesOf(causes, lastPoll)}`;
	return `The last poll failed: ${message}.${advice}`.trimEnd();
}

/** How to collect a job. The specification limits the lifetime of task IDs only. */
function howToCollect({ id, kind }: JobSummary): string {
	const time = kind === 'video' ? '' : ` within ${limits.taskIdHours} hours`;
	return `Collect it by its ID ${shownId(id)}${time}: Wait for Video with that Job ID, and no Create before it.`;
}

function adviceOnVideo({ job, status }: Failure): string {
	const collect = job ? howToCollect(job) : 'Collect it by its ID.';
	return status === 410
		? `The video is finished and charged, but its file is gone, according to the response. Perhaps the job has a new link. ${collect}`
		: `The video is finished and charged, and it is not lost. ${collect}`;
}

function adviceOnImage({ made, url, store, linkLeadsInside }: Failure): string {
	const hasLink = url !== undefined;
	if (linkLeadsInside) return 'The image is made and charged. Its link is in url.';
	const again = 'Executing the workflow again makes a new one and is charged again';
	const lost = hasLink
		? `, but its link no longer works. ${again}`
		: `, but it cannot be used. ${again}`;
	const kept = '. Fetch it by its link; if the node failed, its retry does so without a new charge';
	const state = made === 'lostImage' && !store ? lost : kept;
	const life = `; links of some models live for ${limits.imageUrlMinutes} minutes only`;
	return `The image is made and charged${state}${hasLink ? life : ''}.`;
}

function adviceOnStore({ store }: Failure): string {
	const cause =
		store === 'full'
			? 'n8n has no space left for files: free some on its disk or in its database'
			: "Check n8n's binary data storage (N8N_DEFAULT_BINARY_DATA_MODE)";
	return `${cause}. Then press Retry: it fetches the file again.`;
}

const [minute, hour, day] = [60, 3_600, 86_400];

/** @param milliseconds for which the service asks to wait; more than a month comes from a clock that is wrong */
function adviceOnPause(milliseconds: number): string {
	const seconds = Math.ceil(milliseconds / 1000);
	if (seconds > 31 * day) return '';
	const [unit, name] =
		seconds < 2 * minute
			? [1, 's']
			: seconds < 2 * hour
				? [minute, 'minutes']
				: seconds < 2 * day
					? [hour, 'hours']
					: [day, 'days'];
	return `The service asks to wait ${Math.ceil(seconds / Number(unit))} ${name} first.`;
}
