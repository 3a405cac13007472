export interface ErrorMeaning {
	meaning: string;
	/** What the user can do about it. */
	advice: string;
	/** Whether the same request can succeed later without anybody changing anything. */
	isTransient: boolean;
}

/** "Error codes seen". */
export const errorCodes: Readonly<Record<string, ErrorMeaning>> = {
	invalid_api_key: {
		meaning: 'the API key is not valid',
		advice: 'Check the API key in the Model Gateway credential.',
		isTransient: false,
	},
	model_not_found: {
		meaning: 'the model does not exist',
		advice: 'Choose a model from the list, or check the id that was typed.',
		isTransient: false,
	},
	invalid_model: {
		meaning: 'the video model is not known',
		advice: 'Choose a video model from the list, or check the id that was typed.',
		isTransient: false,
	},
	invalid_prompt: {
		meaning: 'the prompt was refused for its length or content',
		advice: 'Change the prompt; sending the same one again gives the same answer.',
		isTransient: false,
	},
	video_not_found: {
		meaning: 'no video job has this id',
		advice: 'Check the job id; it may be older than 24 hours.',
		isTransient: false,
	},
	video_not_ready: {
		meaning: 'the video is not finished yet',
		advice: 'Use the Wait for Video node, or ask again later.',
		isTransient: true,
	},
	quota_exceeded: {
		meaning: 'the quota or balance is used up',
		advice: 'Top up the account or raise its quota, then run again.',
		isTransient: false,
	},
	invalid_image_file: {
		meaning: 'an input image is not valid',
		advice:
			'Save the image again as a plain PNG or JPEG (a multi-frame file with a .jpg name is refused) and resend it.',
		isTransient: false,
	},
	upstream_error: {
		meaning: "the model's provider had an error",
		advice: 'Run again later; if it stays, read the raw answer (raw_body).',
		isTransient: true,
	},
	write_response_body_failed: {
		meaning: 'the service could not deliver its answer',
		advice: 'Run again; the call was not billed.',
		isTransient: true,
	},
};

/** "Errors", both tables: what a status alone says, for answers whose code says nothing. */
export const statusMeanings: Readonly<Record<number, ErrorMeaning>> = {
	400: {
		meaning: 'the request was refused',
		advice:
			'Correct the value that the answer names. If the content was refused for safety, change the prompt or the media.',
		isTransient: false,
	},
	401: errorCodes.invalid_api_key,
	403: {
		meaning: 'not permitted',
		advice:
			"Either content moderation blocked it (change the prompt or the media), or the key's group may not use this model (ask the account's owner).",
		isTransient: false,
	},
	404: {
		meaning: 'not found',
		advice:
			'Check the id and the base URL in the credential. The base URL must not end in /v1, and a job may be too old: task ids are valid for 24 hours.',
		isTransient: false,
	},
	408: { meaning: 'the service gave up waiting', advice: 'Run again.', isTransient: true },
	429: {
		meaning: 'too many requests, or the balance is insufficient',
		advice:
			'Lower Parallel Requests, where the node has it, or run again later; check the balance if it stays like this.',
		isTransient: true,
	},
	500: {
		meaning: 'the service had an error',
		advice: 'Read the raw answer (raw_body), then run again later.',
		isTransient: true,
	},
};

/**
 * A 429 that waiting does not heal: the table of the video endpoint gives "insufficient balance" the
 * same status as the rate limit, and shows no code for it.
 */
export const balanceWords =
	/quota_exceeded|exceeded your (current )?quota|insufficient[ _-](\w+[ _-]){0,2}(quota|funds?|credits?)|balance(?!r)|arrear|overdue|(quota|credits?|funds) (is|are) (not enough|used up)|(out of|not enough) (credits?|funds|quota)/i;
/** The status that an error belongs to which came with a good one, by its code and type: that case is not shown. */
export const statusWords: ReadonlyArray<readonly [status: number, words: RegExp]> = [
	[429, /rate.?limit|too.?many/i],
	[500, /server|overload|upstream|unavailable|timeout/i],
];
