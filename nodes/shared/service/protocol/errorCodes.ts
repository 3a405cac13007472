interface Refusal {
	/** Completes "Could not …:", where the service gives no reason. */
	meaning: string;
	/** Whether the same request can succeed later with nothing changed. */
	passes?: true;
	/** Refused for good: a wait for the job has no chance then. The service may not know a new job yet. */
	denies?: 'key' | 'job' | 'request';
}

/** Why the service refuses. Another layer has the advice for each. */
export const refusals = {
	invalidKey: { meaning: 'the API key is not valid', denies: 'key' },
	notPermitted: { meaning: 'not permitted', denies: 'key' },
	/** The key lacks a permission, or the content was refused: the response does not tell which. */
	forbidden: { meaning: 'not permitted', denies: 'key' },
	quotaExceeded: { meaning: 'the quota or balance is used up' },
	unknownModel: { meaning: 'the model does not exist' },
	refusedContent: {
		meaning: 'the prompt was refused for its length or content',
		denies: 'request',
	},
	badRequest: { meaning: 'the request was refused', denies: 'request' },
	tooLarge: { meaning: 'the request is too large' },
	invalidImage: { meaning: 'an input image is not valid' },
	missingMedia: { meaning: 'reference media are missing' },
	/** The creation of a reference video has both causes of this 500. */
	missingMediaOrServerError: {
		meaning: 'media are missing, or the service had an error',
		passes: true,
	},
	notFound: { meaning: 'not found', denies: 'job' },
	gone: { meaning: 'not found', denies: 'request' },
	jobNotFinished: { meaning: 'the video is not finished yet', passes: true },
	tooManyRequests: { meaning: 'too many requests', passes: true },
	serverError: { meaning: 'the service had an error', passes: true },
	providerError: { meaning: "the model's provider had an error", passes: true },
	/** The provider may have made what was ordered: the service waited in vain, or says that the job was made. */
	timedOut: { meaning: "the model's provider did not respond in time", passes: true },
	responseNotDelivered: { meaning: 'the service could not deliver its response', passes: true },
	/**
	 * A 409 to an order with an idempotency key, which the specification does not have: the first request is in progress,
	 * or had another body.
	 */
	knownOrder: { meaning: 'the gateway has had an order with this key before' },
	/** Refused by a proxy before the service. */
	proxy: { meaning: 'not permitted' },
} as const satisfies Record<string, Refusal>;

export type RefusalKind = keyof typeof refusals;

/** Only some refusals pass, and no other failure. */
export const passes = (kind = ''): boolean =>
	Object.hasOwn(refusals, kind) && 'passes' in refusals[kind as RefusalKind];

/** With an error of its own, the service may not have read the request. */
export function deniedBy(kind: RefusalKind, status: number): Refusal['denies'] {
	const { denies }: Refusal = refusals[kind];
	return denies === 'request' && status >= 500 ? undefined : denies;
}

/** "Error codes seen". */
export const errorCodes: Readonly<Record<string, RefusalKind>> = {
	invalid_api_key: 'invalidKey',
	model_not_found: 'unknownModel',
	invalid_model: 'unknownModel',
	invalid_prompt: 'refusedContent',
	video_not_found: 'notFound',
	video_not_ready: 'jobNotFinished',
	quota_exceeded: 'quotaExceeded',
	invalid_image_file: 'invalidImage',
	upstream_error: 'providerError',
	write_response_body_failed: 'responseNotDelivered',
};

export function refusalOfCode({ code, type }: { code?: string; type?: string }) {
	const name = [code, type].find((each) => each !== undefined && Object.hasOwn(errorCodes, each));
	return name === undefined ? undefined : errorCodes[name];
}

/** For a response without a known code ("Errors", the general table). */
export const statusRefusals: Readonly<Record<number, RefusalKind>> = {
	400: 'badRequest',
	401: 'invalidKey',
	402: 'quotaExceeded',
	403: 'notPermitted',
	404: 'notFound',
	410: 'gone',
	413: 'tooLarge',
	429: 'tooManyRequests',
	408: 'serverError',
	425: 'serverError',
	500: 'serverError',
};

/** Matches a message that blames the media of a reference video; the specification shows no such message. */
export const mediaWords =
	/\bmedia\b|reference_(image|video|voice)|reference image|first[ _-]frame/i;

/** Matches a message that blames the model's provider. */
export const upstreamWords = /upstream|provider/i;

/** Matches the refusal of an unknown job. The specification does not show its status and code. */
export const notFoundWords = /n[o']t.{0,6}(found|exist)/i;

/** Matches the refusal of an unknown model without its code. */
export const unknownModelWords =
	/\bmodels?\b\W{0,5}[\w./:@-]{0,100}\W{0,5}(?:is|was|do|does|could)? ?n[o']t.{0,6}(found|exist)|(invalid|unknown|no such|unsupported) model\b/i;

/** Matches a 400 or 403 of content moderation, for which no code is shown ("Errors", handling of 400). */
export const moderationWords =
	/moderat|safety|content[ _-]?(polic|filter|violation)|violat.{0,200}polic|inappropriate|(?<!case[ -])sensitive|prohibited|nsfw|敏感|违规|不安全/i;

/** Matches a reason that may be about the content: "not allowed" alone is said of a prompt, too. */
export const contentWords =
	/prompt|content|input|media(?!n)|photo|picture|\bimages?\b(?!-)|\b(text|words?|message)\b|提示|内容|图片/i;

/** Matches a reason that is a time limit, or its status; the last two are those of content networks. */
export const timeLimitWords = /time[d ]?[ _-]?out|deadline|\b(408|504|522|524)\b|超时/i;

/** Matches an error that says that the job was made. */
export const jobMadeWords = new RegExp(
	[
		String.raw`\b(?<!another |other |previous )(?:job|task|video|generation|request)(?: [\w:-]{1,80})? (?:(?:is|was|has been|already|still) ){1,3}(?:accepted|submitted|created|queued|started|running|generating|processing|being processed|in progress)\b`,
		String.raw`\b(?:job|task) (?:accepted|submitted|created|queued)\b(?! fail| error)`,
		'(?:任务|视频)(?:已经?(?:提交|创建|受理)|正在|处理中|生成中|排队中)',
	].join('|'),
	'i',
);

/** Matches a 403 for a key whose group may not use what was requested ("Authentication" 4). */
export const permissionWords =
	/permission|permitted|group|(no|not|without|denied) access|access (is )?denied|not (allowed|authori[sz]ed|entitled)|unauthori[sz]ed/i;

/** Matches a refusal that certainly is about the balance or a budget. */
export const balanceWords = new RegExp(
	[
		String.raw`quota_exceeded|exceeded[ _]?((your|their|its)[ _])?((current|monthly)[ _])?(quota|budget)`,
		// "Quota exceeded for …" is said of a number per minute.
		String.raw`quota (of \S.{0,40} )?(has been |is |was )?exceeded(?! for)`,
		String.raw`insufficient[ _-]([a-z]+[ _-]){0,2}(balance|quota|funds?|credits?)|arrear|overdue`,
		String.raw`(balance|quota|credits?|funds) (is |are |has been |have been )?(insufficient|too low|not enough|used up)`,
		String.raw`(out of|not enough) (credits?|funds|quota|balance|budget)|payment required`,
		String.raw`no (more )?(credits?|funds|balance) (left|remaining|available)|used (up )?all (of )?your credits`,
		String.raw`budget (has been |is |was )?exceeded|budget_exceeded|billing[ _]hard[ _]limit`,
		String.raw`reached (your|their|its) (specified )?(api )?(monthly )?(usage|spend(ing)?|billing|credit|budget) (limit|cap)`,
		String.raw`(usage|spend(ing)?|billing|credit|monthly|budget) (limit|cap) (of \S{1,20} )?(has been |is |was )?(reached|exceeded)`,
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

/** Matches a 429 that names both causes, as the table does: it may pass. */
export const eitherLimitWords =
	/\brate limit.{0,40}\bor\b.{0,40}balance|balance.{0,40}\bor\b.{0,40}rate limit/i;

/** Matches a refusal of the key with another status than 401. */
export const keyWords =
	/api[ _]?key (is )?(not valid|invalid|incorrect)|(invalid|incorrect|wrong) api[ _]?key|api_key_invalid/i;

/** Matches a message about too many requests, under another status than 429. */
export const rateLimitWords = /\brate[ _-]?limit|too many (concurrent )?requests|throttl|\bqps\b/i;

/** The status that the code and type of an error in a 2xx response suggest. The specification shows no such error. */
export const statusWords: ReadonlyArray<readonly [status: number, words: RegExp]> = [
	[429, /rate.?limit|too.?many.?requests|throttl/i],
	[500, /server|overload|upstream|unavailable|timeout/i],
];
