import { withoutUndefined, excerpt, isObject, parseJson, valueAt } from '../json';
import {
	balanceWords,
	errorCodes,
	statusMeanings,
	statusWords,
	type ErrorMeaning,
} from '../protocol/errorCodes';
import { meaningOf, requestIdOf, readErrorObject, type ErrorObject } from './errorObject';
import { GatewayError, type ErrorRecord } from './gatewayError';
import { TimeLimitError } from './timeLimitError';

/** What one request was for; each text continues "Could not …". */
export interface Purpose {
	purpose: string;
	/** What a lost answer may have cost. */
	lostIsBilled: ErrorRecord['billed'];
	/** Who is asked, where it is not the gateway; its failures name the network's own words in the message. */
	host?: string;
	/** What a good status has cost although nothing came of it; default: as a lost answer. */
	unreadableIsBilled?: ErrorRecord['billed'];
}

/**
 * A request that got no answer.
 * @param cause the network's own error, possibly wrapped by n8n
 */
export function noAnswer(what: Purpose, cause: unknown): GatewayError {
	const { texts, codes } = collectErrorTexts(cause);
	const said = [...codes, ...texts];
	const unsent = said.some((t) => neverSent.test(t)) && !said.some((t) => brokeLater.test(t));
	// n8n adds an advice of its own to send again, which knows nothing of money.
	const facts = said.filter((text) => !/\bretry\b/i.test(text));
	const detail = excerpt([...new Set(facts)].join(', '));
	const isLate = cause instanceof TimeLimitError || said.some((text) => tookTooLong.test(text));
	const lost = isLate
		? 'no answer came within the time limit'
		: 'the connection was lost before the answer came';
	const longer = isLate
		? 'If the answer needs longer, raise Timeout (Seconds) where the node has it. '
		: '';
	const { purpose, host } = what;
	const happened = unsent ? `${host ?? 'the gateway'} could not be reached` : lost;
	return new GatewayError(
		{
			message: `Could not ${purpose}: ${happened}${host ? ` (${detail})` : ''}`,
			advice: unsent
				? `Check the base URL in the Model Gateway credential and the network (${detail}). Nothing was sent, so nothing was billed.`
				: `The network said: ${detail}. ${longer}${adviceOnLost(what) || unbilled}`,
			status: 0,
			billed: unsent ? 'no' : what.lostIsBilled,
			retry_can_help: true,
		},
		unsent ? 'unsent' : 'lost',
	);
}

const unbilled =
	'A call whose answer was lost is not billed: run again, and check the network if it stays like this.';

/** A create whose fate is unknown is the one case where sending again can cost. */
function adviceOnLost({ lostIsBilled }: Purpose): string {
	if (lostIsBilled === 'no') return '';
	return 'The job may have been accepted and may be running, so it was not sent again: that could be paid twice. Look into the billing log of the service. To have it sent again, set the option "If the Answer Is Lost" to "Send Again".';
}

/** Codes and messages of failures that happen before a request leaves: name lookup, connecting, TLS. */
const neverSent =
	/ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ERR_INVALID_URL|Invalid URL|CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|SSL routines|secure TLS connection was established|certificate|connect ETIMEDOUT|blocked/;

/** An open connection that broke says what it was doing: the request may have gone by then. */
const brokeLater = /\bread E|\bwrite E(?!PROTO)|BAD_RECORD|DECRYPTION_FAILED/;

/** Of n8n's own timer, which may go off just before ours. */
const tookTooLong = /\btimeout of \d+ ?ms exceeded/;

/** n8n wraps network errors in layers that differ by version; the codes are somewhere among them. */
function collectErrorTexts(cause: unknown): { texts: string[]; codes: string[] } {
	const texts: string[] = [];
	const codes: string[] = [];
	let level = cause;
	for (let depth = 0; depth < 5 && typeof level === 'object' && level !== null; depth++) {
		const {
			code,
			httpCode,
			message,
			messages,
			cause: next,
			errors,
			errorResponse,
		} = level as Record<string, unknown>;
		for (const value of [code, httpCode]) if (typeof value === 'string') codes.push(value);
		if (Array.isArray(messages)) texts.push(...messages.filter((m) => typeof m === 'string'));
		if (typeof message === 'string' && message !== '') texts.push(message);
		// A host with several addresses gives one error for each.
		level = next ?? (Array.isArray(errors) ? errors[0] : errorResponse);
	}
	return { texts, codes };
}

/** What is left of an answer once its body has been read. */
export interface FailedAnswer {
	status: number;
	headers: Record<string, string>;
	/** Body as text, as far as it came. */
	text: string;
}

/** In characters: enough for every error object, too little to fill an execution's log. */
export const truncateBody = (text: string) => text.slice(0, 20_000);

/**
 * An answer with a status that is no success ("Errors", both tables and the codes).
 * @param retryAfter milliseconds the service asked to wait
 */
export function refused(what: Purpose, answer: FailedAnswer, retryAfter?: number): GatewayError {
	const said = readErrorObject(parseJson(answer.text));
	const isBalance = answer.status === 429 && balanceWords.test(said?.message ?? '');
	const known = isBalance ? errorCodes.quota_exceeded : said && meaningOf(said);
	const status = answer.status < 400 ? statusSaid(said) : answer.status;
	const byStatus = statusMeanings[status] ?? statusMeanings[status < 500 ? 400 : 500];
	const { meaning, advice, isTransient: heals } = known ?? byStatus;
	const reach = isOfProxy(answer, known) ? 'lost' : 'answered';
	const reason = said?.message ?? (said ? meaning : `${meaning}, without saying why`);
	const later = !retryAfter ? '' : ` The service asks to wait ${durationOf(retryAfter)} first.`;
	return new GatewayError(
		{
			message: `Could not ${what.purpose}: ${excerpt(reason)} (${[`HTTP ${answer.status}`, said?.code].filter(Boolean).join(', ')})`,
			advice: (reach === 'lost' ? `${advice} ${adviceOnLost(what)}`.trim() : advice) + later,
			...factsOf(answer, said),
			billed: reach === 'lost' ? what.lostIsBilled : 'no',
			retry_can_help: heals,
		},
		reach,
		retryAfter,
	);
}

/** The status that belongs to an error which came with a good one. */
function statusSaid({ code, type }: ErrorObject = {}): number {
	const [status] = statusWords.find(([, words]) => words.test(`${code} ${type}`)) ?? [400];
	return status;
}

/** A proxy that gave up waiting says so in forms of its own, which tell nothing about what the service did. */
function isOfProxy({ status, text }: FailedAnswer, known: ErrorMeaning | undefined): boolean {
	const error = valueAt(parseJson(text), 'error');
	const isOwn =
		known !== undefined || (isObject(error) && readErrorObject({ error }) !== undefined);
	return !isOwn && (status >= 500 || status === 408);
}

function durationOf(milliseconds: number): string {
	const seconds = Math.ceil(milliseconds / 1000);
	return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
}

/**
 * A good status with a body that is of no use: cut, empty, a web page, not JSON, without its fields.
 * @param problem continues "the answer …"
 * @param kept what came of a text before it broke off, and the error object that it broke off with
 */
export function unreadable(
	what: Purpose,
	answer: FailedAnswer,
	problem: string,
	{ partialText = '', error }: { partialText?: string; error?: unknown } = {},
): GatewayError {
	const billed = what.unreadableIsBilled ?? what.lostIsBilled;
	const said = readErrorObject({ error });
	const advice =
		partialText === ''
			? 'The raw answer is kept in raw_body. If it is a web page, the base URL in the credential does not lead to the gateway.'
			: 'What came of the answer is kept in partial_text.';
	return new GatewayError(
		{
			message: `Could not ${what.purpose}: the answer ${excerpt(problem, 1000)} (HTTP ${answer.status})`,
			advice: `${advice} ${adviceOnLost(what)}`.trim(),
			...factsOf(answer, said),
			billed,
			// What may be paid for is not sent again by a retry.
			retry_can_help: billed === 'no',
			...(partialText !== '' && { partial_text: partialText }),
		},
		'unreadable',
	);
}

/** What an answer tells about itself. */
function factsOf({ status, headers, text }: FailedAnswer, { code, type, param }: ErrorObject = {}) {
	const request_id = requestIdOf(headers, parseJson(text));
	return {
		status,
		...withoutUndefined({ code, type, param, request_id }),
		raw_body: truncateBody(text),
	};
}
