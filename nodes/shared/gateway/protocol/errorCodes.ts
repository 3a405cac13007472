/** Why the service refuses. A layer that knows the user interface words the advice for each. */
export type RefusalKind =
	| 'invalidKey'
	| 'unknownModel'
	| 'unknownVideoModel'
	| 'refusedPrompt'
	| 'unknownJob'
	| 'jobNotFinished'
	| 'quotaExceeded'
	| 'invalidImage'
	| 'providerError'
	| 'responseNotDelivered'
	| 'badRequest'
	| 'moderated'
	| 'notPermitted'
	| 'forbidden'
	| 'unexplained'
	| 'notFound'
	| 'knownOrder'
	| 'tooLarge'
	| 'proxyLogin'
	| 'proxyRefusal'
	| 'serverTimeout'
	| 'missingMedia'
	| 'mediaOrServerError'
	| 'tooManyRequests'
	| 'serverError';

const passing: ReadonlySet<RefusalKind> = new Set([
	...(['providerError', 'responseNotDelivered', 'serverTimeout', 'jobNotFinished'] as const),
	...(['mediaOrServerError', 'tooManyRequests', 'serverError'] as const),
]);

/** Whether the same request can succeed later with nothing changed. */
export const passes = (refusal?: RefusalKind): boolean =>
	refusal !== undefined && passing.has(refusal);

export interface ErrorMeaning {
	refusal: RefusalKind;
	/** Completes "Could not …:". */
	meaning: string;
}

/** "Error codes seen". */
export const errorCodes: Readonly<Record<string, ErrorMeaning>> = {
	invalid_api_key: {
		refusal: 'invalidKey',
		meaning: 'the API key is not valid',
	},
	model_not_found: {
		refusal: 'unknownModel',
		meaning: 'the model does not exist',
	},
	invalid_model: {
		refusal: 'unknownVideoModel',
		meaning: 'the video model is not known',
	},
	invalid_prompt: {
		refusal: 'refusedPrompt',
		meaning: 'the prompt was refused for its length or content',
	},
	video_not_found: {
		refusal: 'unknownJob',
		meaning: 'no video job has this id',
	},
	video_not_ready: {
		refusal: 'jobNotFinished',
		meaning: 'the video is not finished yet',
	},
	quota_exceeded: {
		refusal: 'quotaExceeded',
		meaning: 'the quota or balance is used up',
	},
	invalid_image_file: {
		refusal: 'invalidImage',
		meaning: 'an input image is not valid',
	},
	upstream_error: {
		refusal: 'providerError',
		meaning: "the model's provider had an error",
	},
	write_response_body_failed: {
		refusal: 'responseNotDelivered',
		meaning: 'the service could not deliver its response',
	},
};

/** The meaning of an error's code, or else of its type ("Error codes seen"). */
export function meaningOf({
	code,
	type,
}: {
	code?: string;
	type?: string;
}): ErrorMeaning | undefined {
	for (const name of [code, type]) {
		if (name !== undefined && Object.hasOwn(errorCodes, name)) return errorCodes[name];
	}
	return undefined;
}

const serverTimeout: ErrorMeaning = {
	refusal: 'serverTimeout',
	meaning: 'the service gave up waiting',
};

const notFound: ErrorMeaning = { refusal: 'notFound', meaning: 'not found' };

/** What a status means when the response has no known code. */
export type StatusMeanings = Readonly<Record<number, ErrorMeaning>>;

/** "Errors", the general table. */
export const statusMeanings: StatusMeanings = {
	400: { refusal: 'badRequest', meaning: 'the request was refused' },
	401: errorCodes.invalid_api_key,
	402: errorCodes.quota_exceeded,
	403: { refusal: 'notPermitted', meaning: 'not permitted' },
	404: notFound,
	410: notFound,
	413: { refusal: 'tooLarge', meaning: 'the request is too large' },
	408: serverTimeout,
	425: serverTimeout,
	429: {
		refusal: 'tooManyRequests',
		meaning: 'too many requests',
	},
	500: { refusal: 'serverError', meaning: 'the service had an error' },
};

/** "Errors", the table of the reference-video creation, where it names more causes than the general one. */
export const referenceVideoStatusMeanings: StatusMeanings = {
	403: { refusal: 'forbidden', meaning: 'not permitted' },
	429: {
		...statusMeanings[429],
		meaning: 'too many requests, or the balance is insufficient',
	},
	500: {
		refusal: 'mediaOrServerError',
		meaning: 'media are missing, or the service had an error',
	},
};

/** The creation of a video job: the specification does not show which statuses it has ("Error codes seen"). */
export const videoStatusMeanings: StatusMeanings = {
	403: { refusal: 'unexplained', meaning: 'not permitted' },
};

/** The first of the two causes of this 500. The same request, sent again, would lack the same media. */
export const missingMedia: ErrorMeaning = {
	refusal: 'missingMedia',
	meaning: 'reference media are missing',
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
export const knownOrder = {
	refusal: 'knownOrder',
	meaning: 'the gateway has had an order with this key before',
} as const;

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
