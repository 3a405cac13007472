interface Refusal {
	/** Whether the same request can succeed later with nothing changed. */
	passes?: true;
	/**
	 * What the service refuses for good: the key; a job, which it may not know yet; or the very request. A wait for the
	 * job has no chance then.
	 */
	denies?: 'key' | 'job' | 'request';
}

/** Why the service refuses. A layer that knows the user interface words the advice for each. */
const refusals = {
	invalidKey: { denies: 'key' },
	/** The key lacks a permission. */
	notPermitted: { denies: 'key' },
	/** The permission or the content: the response names neither or both. */
	forbidden: { denies: 'key' },
	quotaExceeded: {},
	unknownModel: {},
	refusedContent: { denies: 'request' },
	badRequest: { denies: 'request' },
	tooLarge: {},
	invalidImage: {},
	missingMedia: {},
	/** The first of the causes of this 500: the same request would lack the same media. */
	missingMediaOrServerError: { passes: true },
	notFound: { denies: 'job' },
	gone: { denies: 'request' },
	jobNotFinished: { passes: true },
	tooManyRequests: { passes: true },
	serverError: { passes: true },
	/** The model's provider had an error, so the service has made nothing. */
	providerError: { passes: true },
	responseNotDelivered: { passes: true },
	knownOrder: {},
	/** It is no refusal of the service, but of a proxy before it. */
	proxy: {},
} as const satisfies Record<string, Refusal>;

export type RefusalKind = keyof typeof refusals;

/** What a kind of refusal says; undefined for a failure of another kind. */
const refusalOfKind = (kind = ''): Refusal | undefined =>
	Object.hasOwn(refusals, kind) ? refusals[kind as RefusalKind] : undefined;

/** Whether the same request can succeed later with nothing changed. */
export const passes = (kind?: string): boolean => refusalOfKind(kind)?.passes === true;

/** What a refusal of the service itself denies for good. */
export const deniedBy = (kind?: string): Refusal['denies'] => refusalOfKind(kind)?.denies;

export interface ErrorMeaning {
	kind: RefusalKind;
	/** Completes "Could not …:". */
	meaning: string;
}

/** "Error codes seen". */
export const errorCodes: Readonly<Record<string, ErrorMeaning>> = {
	invalid_api_key: { kind: 'invalidKey', meaning: 'the API key is not valid' },
	model_not_found: { kind: 'unknownModel', meaning: 'the model does not exist' },
	invalid_model: { kind: 'unknownModel', meaning: 'the video model is not known' },
	invalid_prompt: {
		kind: 'refusedContent',
		meaning: 'the prompt was refused for its length or content',
	},
	video_not_found: { kind: 'notFound', meaning: 'no video job has this id' },
	video_not_ready: { kind: 'jobNotFinished', meaning: 'the video is not finished yet' },
	quota_exceeded: { kind: 'quotaExceeded', meaning: 'the quota or balance is used up' },
	invalid_image_file: { kind: 'invalidImage', meaning: 'an input image is not valid' },
	upstream_error: { kind: 'providerError', meaning: "the model's provider had an error" },
	write_response_body_failed: {
		kind: 'responseNotDelivered',
		meaning: 'the service could not deliver its response',
	},
};

/** The meaning of an error's code, or else of its type ("Error codes seen"). */
export function meaningOf({ code, type }: { code?: string; type?: string }) {
	const name = [code, type].find((each) => each !== undefined && Object.hasOwn(errorCodes, each));
	return name === undefined ? undefined : errorCodes[name];
}

const serverTimeout: ErrorMeaning = { kind: 'serverError', meaning: 'the service gave up waiting' };

/** What a status means when the response has no known code ("Errors", the general table). */
export const statusMeanings: Readonly<Record<number, ErrorMeaning>> = {
	400: { kind: 'badRequest', meaning: 'the request was refused' },
	401: errorCodes.invalid_api_key,
	402: errorCodes.quota_exceeded,
	403: { kind: 'notPermitted', meaning: 'not permitted' },
	404: { kind: 'notFound', meaning: 'not found' },
	408: serverTimeout,
	410: { kind: 'gone', meaning: 'not found' },
	413: { kind: 'tooLarge', meaning: 'the request is too large' },
	425: serverTimeout,
	429: { kind: 'tooManyRequests', meaning: 'too many requests' },
	500: { kind: 'serverError', meaning: 'the service had an error' },
};

/** "Errors", what 500 means for the creation of a reference video. */
export const missingMedia: ErrorMeaning = {
	kind: 'missingMedia',
	meaning: 'reference media are missing',
};
export const missingMediaOrServerError: ErrorMeaning = {
	kind: 'missingMediaOrServerError',
	meaning: 'media are missing, or the service had an error',
};

/** Matches a message that blames the media of a reference video; the specification shows no such message. */
export const mediaWords =
	/\bmedia\b|reference_(image|video|voice)|reference image|first[ _-]frame/i;

/** Matches a message that blames the model's provider instead. */
export const upstreamWords = /upstream|provider/i;

/**
 * A 409 to an order with an idempotency key; the specification has no such keys. Gateways that support them respond
 * like this while the first request is in progress, and some also when its body was different.
 */
export const knownOrder: ErrorMeaning = {
	kind: 'knownOrder',
	meaning: 'the gateway has had an order with this key before',
};

/** Matches the refusal of an unknown job, whose status and code the specification does not show. */
export const notFoundWords = /n[o']t.{0,6}(found|exist)/i;

/** Matches a 400 or 403 of content moderation, for which no code is shown ("Errors", handling of 400). */
export const moderationWords =
	/moderat|safety|content[ _-]?(polic|filter|violation)|violat.{0,200}polic|inappropriate|(?<!case[ -])sensitive|prohibited|nsfw|敏感|违规|不安全/i;

/** Matches a 403 for a key whose group may not use what was requested ("Authentication" 4). */
export const permissionWords =
	/permission|permitted|group|(no|not|without|denied) access|access (is )?denied|not (allowed|authori[sz]ed|entitled)|unauthori[sz]ed/i;

/** Matches a refusal that certainly is about the balance or a budget, whatever its status. */
export const balanceWords = new RegExp(
	[
		String.raw`quota_exceeded|exceeded[ _]?(your[ _])?(current[ _])?(quota|budget)`,
		String.raw`insufficient[ _-]([a-z]+[ _-]){0,2}(balance|quota|funds?|credits?)|arrear|overdue`,
		String.raw`(balance|quota|credits?|funds) (is|are)? ?(insufficient|too low|not enough|used up)`,
		String.raw`(out of|not enough) (credits?|funds|quota|balance)|payment required`,
		String.raw`budget (has been |is |was )?exceeded|budget_exceeded|billing[ _]hard[ _]limit`,
		String.raw`reached your (specified )?(api )?(monthly )?(usage|spend(ing)?|billing|credit) (limit|cap)`,
		String.raw`(usage|spend(ing)?|billing|credit|monthly) (limit|cap) (has been |is |was )?(reached|exceeded)`,
		String.raw`(credits?|balance|funds|budget) (has been |have been |is |are )?(exhausted|depleted|spent)`,
		'欠费|余额不足|额度不足',
	].join('|'),
	'i',
);

/**
 * Matches a 429 that waiting does not resolve: the table of the video endpoint gives "insufficient balance" the same
 * status as the rate limit, and shows no code for it.
 */
export const lastingLimitWords = /balance(?!r)|billing details/i;

/** Matches a refusal of the key with another status than 401. */
export const keyWords =
	/api[ _]?key (is )?(not valid|invalid|incorrect)|(invalid|incorrect|wrong) api[ _]?key|api_key_invalid/i;

/** Matches a message that speaks of too many requests, in an error inside a 2xx response. */
export const rateLimitWords = /rate limit|too many requests/i;

/**
 * For an error inside a 2xx response, which the specification does not show: the status that its code and type
 * suggest.
 */
export const statusWords: ReadonlyArray<readonly [status: number, words: RegExp]> = [
	[429, /rate.?limit|too.?many|throttl/i],
	[500, /server|overload|upstream|unavailable|timeout/i],
];
