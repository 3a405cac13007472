import { TimeLimitError } from './http';
import { asText, excerpt, isObject, parseJson, textAt, valueAt } from './json';
import {
	balanceWords,
	billing,
	errorCodes,
	statusMeanings,
	type ErrorMeaning,
	type JobKind,
} from './protocol';

/** Where a job stands, as far as we know: enough to collect it later. */
export interface JobNote {
	kind?: JobKind;
	id: string;
	status?: string;
	/** Percent. */
	progress?: number;
	request_id?: string;
}

/**
 * What a failure shows, in the error panel and on the error output alike. Names are the service's own
 * where it has them ("Error object"); absent where nothing is known.
 */
export interface ErrorRecord {
	/** What happened, in one line. */
	message: string;
	/** What the user can do. */
	advice: string;
	/** HTTP status; 0 when no answer came ("Errors", last paragraph). */
	status: number;
	code?: string;
	type?: string;
	param?: string;
	request_id?: string;
	billed: 'no' | 'unknown' | 'yes';
	/** Whether the same request can succeed later with nothing changed. */
	retry_can_help: boolean;
	raw_body?: string;
	/** What came of a text whose answer could not be handed on as a whole. */
	partial_text?: string;
	/** The link of a picture that could not be fetched, byte for byte. */
	url?: string;
	/** The job this failure is about. */
	job?: JobNote;
}

/**
 * How far a failed request got.
 * - `unsent`: it never left, or nobody was there to take it.
 * - `lost`: it left, and no answer of the service came back; the service may have acted on it.
 * - `answered`: the service answered, and refused.
 * - `unreadable`: a good status came, but no answer that can be used.
 * - `none`: no request failed: bad input, a failed job, a deadline, Stop.
 */
export type Reach = 'unsent' | 'lost' | 'answered' | 'unreadable' | 'none';

/** The only error that leaves the gateway layer. */
export class GatewayError extends Error {
	override readonly name = 'GatewayError';

	constructor(
		readonly record: ErrorRecord,
		readonly reach: Reach = 'none',
		/** Milliseconds the service asked to wait. */
		readonly retryAfter?: number,
	) {
		super(record.message);
	}

	/** The same error, of a request that an earlier try may have brought to the service. */
	after({ record: { billed, advice } }: GatewayError): GatewayError {
		return new GatewayError({ ...this.record, billed, advice }, this.reach, this.retryAfter);
	}

	/** The same error, about this job. */
	about(job: JobNote): GatewayError {
		return new GatewayError({ ...this.record, job }, this.reach, this.retryAfter);
	}
}

/**
 * What everything under way ends with when the user presses Stop.
 * @param broken the request that Stop interrupted, whose fate may be unknown
 */
export function canceled(broken?: GatewayError): GatewayError {
	const isUnknown = broken?.record.billed === 'unknown';
	return new GatewayError(
		{
			// n8n shows an execution as canceled when this word is in the message.
			message: 'The execution was canceled',
			advice: isUnknown ? broken.record.advice : 'Nothing more was sent to the gateway.',
			status: 0,
			billed: isUnknown ? 'unknown' : 'no',
			retry_can_help: true,
		},
		isUnknown ? broken.reach : 'none',
	);
}

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
	const { texts, codes } = traces(cause);
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
				: `The network said: ${detail}. ${longer}${adviceOnLost(what)}`.trim(),
			status: 0,
			billed: unsent ? 'no' : what.lostIsBilled,
			retry_can_help: true,
		},
		unsent ? 'unsent' : 'lost',
	);
}

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
function traces(cause: unknown): { texts: string[]; codes: string[] } {
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

/** The fields of the error object, tolerant of the shapes that gateways and proxies send instead. */
export interface ServiceError {
	message?: string;
	code?: string;
	type?: string;
	param?: string;
}

/** In characters: enough for every error object, too little to fill an execution's log. */
export const rawBody = (text: string) => text.slice(0, 20_000);

/** Short, whatever an answer holds: it stands in the middle of messages. */
function wordAt(value: unknown, ...paths: string[]): string | undefined {
	const text = textAt(value, ...paths);
	return text && excerpt(text, 100);
}

/** Undefined when the body carries no error of the service ("Resources", error object). */
export function serviceError(body: unknown): ServiceError | undefined {
	if (!isObject(body)) return undefined;
	const { error } = body;
	if (typeof error === 'string' && error.trim() !== '') {
		return { message: error.trim(), code: wordAt(body, 'code'), type: wordAt(body, 'type') };
	}
	const source = isObject(error) ? error : body;
	const found: ServiceError = {
		message: textAt(source, 'message', 'msg', 'detail', 'error_message'),
		code: wordAt(source, 'code', 'error_code'),
		type: wordAt(source, 'type'),
		param: wordAt(source, 'param'),
	};
	return found.message === undefined && found.code === undefined ? undefined : found;
}

/**
 * An answer with a status that is no success ("Errors", both tables and the codes).
 * @param retryAfter milliseconds the service asked to wait
 */
export function refused(what: Purpose, answer: FailedAnswer, retryAfter?: number): GatewayError {
	const said = serviceError(parseJson(answer.text));
	const isBalance = answer.status === 429 && balanceWords.test(said?.message ?? '');
	const known = isBalance ? errorCodes.quota_exceeded : said && meaningOf(said);
	const byStatus = statusMeanings[answer.status] ?? statusMeanings[answer.status < 500 ? 400 : 500];
	const { meaning, advice, heals } = known ?? byStatus;
	const reach = isOfProxy(answer, known) ? 'lost' : 'answered';
	const reason = said?.message ?? (said ? meaning : `${meaning}, without saying why`);
	const later =
		retryAfter === undefined ? '' : ` The service asks to wait ${durationOf(retryAfter)} first.`;
	return new GatewayError(
		{
			message: `Could not ${what.purpose}: ${excerpt(reason)} (${[`HTTP ${answer.status}`, said?.code].filter(Boolean).join(', ')})`,
			advice: (reach === 'lost' ? `${advice} ${adviceOnLost(what)}`.trim() : advice) + later,
			status: answer.status,
			...definedText('code', said?.code),
			...definedText('type', said?.type),
			...definedText('param', said?.param),
			...definedText('request_id', requestIdOf(answer.headers, parseJson(answer.text))),
			billed: reach === 'lost' ? what.lostIsBilled : 'no',
			retry_can_help: heals,
			raw_body: rawBody(answer.text),
		},
		reach,
		retryAfter,
	);
}

/** A proxy that gave up waiting says so in forms of its own, which tell nothing about what the service did. */
function isOfProxy({ status, text }: FailedAnswer, known: ErrorMeaning | undefined): boolean {
	const error = valueAt(parseJson(text), 'error');
	const isOwn = known !== undefined || (isObject(error) && serviceError({ error }) !== undefined);
	return !isOwn && (status >= 500 || status === 408);
}

function durationOf(milliseconds: number): string {
	const seconds = Math.ceil(milliseconds / 1000);
	return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
}

export function meaningOf({ code, type }: ServiceError): ErrorMeaning | undefined {
	for (const name of [code, type]) {
		if (name !== undefined && Object.hasOwn(errorCodes, name)) return errorCodes[name];
	}
	return undefined;
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
	const said = serviceError({ error });
	const advice =
		partialText === ''
			? 'The raw answer is kept in raw_body. If it is a web page, the base URL in the credential does not lead to the gateway.'
			: 'What came of the answer is kept in partial_text.';
	return new GatewayError(
		{
			message: `Could not ${what.purpose}: the answer ${excerpt(problem, 1000)} (HTTP ${answer.status})`,
			advice: `${advice} ${adviceOnLost(what)}`.trim(),
			status: answer.status,
			...definedText('code', said?.code),
			...definedText('type', said?.type),
			...definedText('param', said?.param),
			...definedText('request_id', requestIdOf(answer.headers, parseJson(answer.text))),
			billed,
			// What may be paid for is not sent again by a retry.
			retry_can_help: billed === 'no',
			raw_body: rawBody(answer.text),
			...(partialText !== '' && { partial_text: partialText }),
		},
		'unreadable',
	);
}

/** "What the service does", billing rule 3; some answers carry it in the body too. */
export function requestIdOf(headers: Record<string, string>, body?: unknown): string | undefined {
	return asText(headers[billing.requestIdHeader]) ?? wordAt(body, 'request_id', 'error.request_id');
}

/** An object with that field, or an empty one: unset fields are left out of records and outputs. */
export function definedText<K extends string>(
	key: K,
	value: string | undefined,
): Partial<Record<K, string>> {
	return value === undefined ? {} : ({ [key]: value } as Record<K, string>);
}

/** Why a job failed: the inner fields of its `error` are not shown, so every likely form is read. */
export function jobFailureReason(job: unknown): ServiceError {
	for (const body of [job, valueAt(job, 'output'), valueAt(job, 'data')]) {
		if (!isObject(body)) continue;
		const said = body.error ? serviceError({ error: body.error }) : undefined;
		if (said) return said;
		const message = textAt(body, 'failure_reason', 'fail_reason', 'message', 'reason');
		if (message !== undefined) return { message, ...definedText('code', wordAt(body, 'code')) };
	}
	const error = valueAt(job, 'error');
	const isEmpty = !error || (typeof error === 'object' && Object.keys(error).length === 0);
	return isEmpty ? {} : { message: excerpt(JSON.stringify(error)) };
}

/** The first ten of many, and more while they are short: a list that fills the screen is not read. */
export function listed(texts: string[], short = 0): string {
	let most = 10;
	while (most < texts.length && texts.slice(0, most + 1).join('; ').length <= short) most++;
	const more = texts.length > most ? `; and ${texts.length - most} more` : '';
	return texts.slice(0, most).join('; ') + more;
}

/** In characters: as much as the problems of one order take, so that all are mended at once. */
const problemsOfOrder = 900;

/** Input that would be refused, found before anything is paid. */
export interface Problem {
	/** The field as the editor shows it. */
	field: string;
	/** Continues the field's name: "must be …". */
	problem: string;
}

/** @param work whether it costs anything: nobody else is to be told that nothing was billed */
export function badInput(problems: Problem[], { paid } = { paid: true }): GatewayError {
	const named = problems.map(({ field, problem }) => `${field} ${excerpt(problem, 1000)}`);
	return new GatewayError({
		message: listed(named, problemsOfOrder),
		advice: `Nothing was sent${paid ? ' and nothing was billed' : ''}. Correct the fields named above.`,
		status: 0,
		billed: 'no',
		retry_can_help: false,
	});
}
