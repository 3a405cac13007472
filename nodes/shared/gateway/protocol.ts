/**
 * Every fact of the Model Gateway service, once, in the order of the service's specification:
 * purpose, resources, states, endpoints, authentication, events, errors, limits, versioning.
 * Menus, limits in the editor, checks before paying and the embedded gateway all read it from here.
 * What the specification does not show is not stated here; parsers tolerate the likely forms instead.
 */

// ── 1. Purpose and billing ──────────────────────────────────────────────────────────────────────

/** "What the service does", billing rules 1 to 3. */
export const billing = {
	/** A call without a 2xx answer, or whose answer was lost, makes no charge. */
	failedCallsAreBilled: false,
	requestIdHeader: 'x-request-id',
} as const;

// ── 2. Resources and their fields ───────────────────────────────────────────────────────────────

/** One field of a request or an answer. Numbers are inclusive limits in the field's own unit. */
export interface Field {
	type:
		'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'file' | 'string | array';
	required?: true;
	default?: string | number | boolean;
	min?: number;
	max?: number;
	/** The only values allowed. */
	values?: readonly string[];
	/** Values shown as examples: others may work. */
	examples?: readonly string[];
}
export type Fields = Readonly<Record<string, Field>>;

/** "Resources and their fields": the fields of each answer that the specification names. */
export const resources = {
	referenceVideoTaskCreated: {
		'output.task_id': { type: 'string' },
		'output.task_status': { type: 'string', values: ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED'] },
		request_id: { type: 'string' },
	},
	referenceVideoTask: {
		status: { type: 'string', values: ['submitted', 'in_progress', 'completed', 'failed'] },
		progress: { type: 'integer', min: 0, max: 100 },
		result_url: { type: 'string' },
		task_id: { type: 'string' },
		error: { type: 'object' },
	},
	videoJob: {
		id: { type: 'string' },
		status: { type: 'string', values: ['queued', 'processing', 'completed', 'failed'] },
	},
	chatCompletion: {
		id: { type: 'string' },
		object: { type: 'string', values: ['chat.completion', 'chat.completion.chunk'] },
		created: { type: 'integer' },
		model: { type: 'string' },
		choices: { type: 'array' },
		usage: { type: 'object' },
	},
	embeddingList: {
		object: { type: 'string', values: ['list'] },
		data: { type: 'array' },
		model: { type: 'string' },
		usage: { type: 'object' },
	},
	modelList: {
		object: { type: 'string', values: ['list'] },
		data: { type: 'array' },
	},
	model: {
		id: { type: 'string' },
		object: { type: 'string', values: ['model'] },
		created: { type: 'integer' },
		owned_by: { type: 'string' },
	},
	imageResult: { 'data[0].url': { type: 'string' } },
	error: {
		'error.message': { type: 'string' },
		'error.type': { type: 'string', examples: ['invalid_request_error'] },
		'error.param': { type: 'string' },
		'error.code': { type: 'string' },
	},
} as const satisfies Record<string, Fields>;

/** "Chat completion": why a choice ended. */
export const finishReasons = {
	stop: 'natural end',
	length: 'max_tokens reached',
	content_filter: 'withheld by the content filter',
	function_call: 'a function call',
	tool_calls: 'tool calls',
} as const;

/** "Message": function and tool exist for some models only. */
export const messageRoles = ['system', 'user', 'assistant', 'function', 'tool'] as const;

// ── 3. States ───────────────────────────────────────────────────────────────────────────────────

/** What a state means for whoever waits. The last two are final. */
export type Phase = 'queued' | 'running' | 'succeeded' | 'failed';

/** "States and transitions": the passthrough task, as its creation answer words it. */
export const taskCreationStates = {
	PENDING: 'queued',
	RUNNING: 'running',
	SUCCEEDED: 'succeeded',
	FAILED: 'failed',
} as const satisfies Record<string, Phase>;

/** "States and transitions": the same task, as the poll words it. */
export const taskPollStates = {
	submitted: 'queued',
	in_progress: 'running',
	completed: 'succeeded',
	failed: 'failed',
} as const satisfies Record<string, Phase>;

/** "States and transitions": the `/v1/videos` job. */
export const videoJobStates = {
	queued: 'queued',
	processing: 'running',
	completed: 'succeeded',
	failed: 'failed',
} as const satisfies Record<string, Phase>;

const phases = new Map<string, Phase>(
	[taskCreationStates, taskPollStates, videoJobStates].flatMap((states) =>
		Object.entries(states).map(([state, phase]) => [state.toLowerCase(), phase] as const),
	),
);

/** The phase of a state of any of the three vocabularies; undefined for a state nobody has named yet. */
export function phaseOf(state: string): Phase | undefined {
	return phases.get(state.toLowerCase());
}

export function isFinal(phase: Phase | undefined): phase is 'succeeded' | 'failed' {
	return phase === 'succeeded' || phase === 'failed';
}

// ── 4. Endpoints ────────────────────────────────────────────────────────────────────────────────

/**
 * When a request may be sent again without asking the user.
 * - `always`: it reads.
 * - `unlessAnswered`: it generates; a lost answer is not billed ("Errors", status 0).
 * - `ifRefused`: it starts an expensive job; only when the service surely did not accept it.
 */
export type Resend = 'always' | 'unlessAnswered' | 'ifRefused';

export interface Endpoint {
	method: 'GET' | 'POST';
	/** Relative to the base URL; `{id}` stands for the job's id. */
	path: string;
	resend: Resend;
	/** How long to wait for an answer, in seconds: ours, not the service's. */
	timeoutSeconds: number;
	fields?: Fields;
}

const read = { method: 'GET', resend: 'always', timeoutSeconds: 60 } as const;
const generate = { method: 'POST', resend: 'unlessAnswered', timeoutSeconds: 600 } as const;
const start = { method: 'POST', resend: 'ifRefused', timeoutSeconds: 60 } as const;

const text = { type: 'string' } as const;
const requiredText = { type: 'string', required: true } as const;

/** "Endpoints" 1 to 13, without 3 and 13's second half: a download has no path of its own. */
export const endpoints = {
	referenceVideoCreate: {
		...start,
		path: '/wan/api/v1/services/aigc/video-generation/video-synthesis',
		fields: {
			model: requiredText,
			'input.prompt': requiredText,
			'input.media': { type: 'array', required: true },
			parameters: { type: 'object' },
		},
	},
	task: { ...read, path: '/v1/tasks/{id}' },
	chat: {
		...generate,
		path: '/v1/chat/completions',
		fields: {
			model: requiredText,
			messages: { type: 'array', required: true },
			temperature: { type: 'number', default: 1, min: 0, max: 2 },
			max_tokens: { type: 'integer' },
			top_p: { type: 'number', default: 1, min: 0, max: 1 },
			frequency_penalty: { type: 'number', default: 0, min: -2, max: 2 },
			presence_penalty: { type: 'number', default: 0, min: -2, max: 2 },
			stop: { type: 'string | array' },
			stream: { type: 'boolean', default: false },
			n: { type: 'integer', default: 1 },
			user: text,
		},
	},
	message: {
		...generate,
		path: '/v1/messages',
		fields: { model: text, max_tokens: { type: 'integer' }, messages: { type: 'array' } },
	},
	embedding: {
		...generate,
		path: '/v1/embeddings',
		fields: {
			model: text,
			input: { type: 'string | array' },
			// Its name is not shown; this is the name the wire format is widely known by.
			encoding_format: { type: 'string', values: ['float', 'base64'] },
		},
	},
	models: { ...read, path: '/v1/models' },
	imageGenerate: {
		...generate,
		path: '/v1/images/generations',
		fields: {
			model: text,
			prompt: text,
			n: { type: 'integer' },
			size: { type: 'string', examples: ['1024x1024', '1024x1792', '1792x1024'] },
			quality: { type: 'string', examples: ['hd'] },
			style: { type: 'string', examples: ['vivid'] },
			aspect_ratio: { type: 'string', examples: ['16:9', '21:9'] },
			seed: { type: 'integer' },
			prompt_upsampling: { type: 'boolean' },
			safety_tolerance: { type: 'integer' },
		},
	},
	imageEdit: {
		...generate,
		path: '/v1/images/edits',
		fields: {
			model: text,
			image: { type: 'file' },
			prompt: text,
			mask: { type: 'file' },
			n: { type: 'integer' },
			size: text,
			aspect_ratio: text,
		},
	},
	videoCreate: {
		...start,
		path: '/v1/videos',
		fields: { prompt: requiredText, model: requiredText },
	},
	video: { ...read, path: '/v1/videos/{id}' },
	videoContent: { ...read, path: '/v1/videos/{id}/content' },
} as const satisfies Record<string, Endpoint>;

/** "Endpoints" 4: what reasoning-series models refuse, even at its default value. */
export const reasoningRefuses = {
	fields: ['temperature', 'top_p', 'frequency_penalty'],
	roles: ['system'],
} as const;

/** "Endpoints" 1: the switch without which a task is not accepted. Its name can be changed in the credential. */
export const asyncHeader = { name: 'X-Gateway-Async', value: 'enable' } as const;

/** "Endpoints" 5: its name has a prefix that is not shown, its value is a date. The node lets both be changed. */
export const versionHeader = { name: 'X-Gateway-Version', value: '2023-06-01' } as const;

/** "Endpoints" 10: what a prompt for a chat image model may end with. */
export const aspectMarkers = ['【2:3】', '【3:2】', '【1:1】'] as const;

export type MediaType = 'reference_image' | 'reference_video' | 'first_frame';
export const mediaTypes: readonly MediaType[] = [
	'reference_image',
	'reference_video',
	'first_frame',
];

/** "Resources", media item: the media that may carry `reference_voice`, and its limits. */
export const referenceVoice = {
	mediaTypes: ['reference_image', 'reference_video'] as readonly MediaType[],
	fileTypes: ['wav', 'mp3'] as readonly string[],
	seconds: { min: 1, max: 10 },
} as const;

/** What one reference-to-video model takes ("Endpoints" 1, per-model tables, and "Limits"). */
export interface ReferenceVideoModel {
	mediaTypes: readonly MediaType[];
	/** Reference images and videos together; first frames do not count. A minimum only where it is stated. */
	references: { min?: number; max: number };
	firstFrames: { max: number };
	/** Prompt length in characters. */
	prompt?: { max: number };
	voice: boolean;
	/** Fields of `parameters`. Duration in seconds. */
	parameters: {
		resolution: Field;
		ratio?: Field;
		duration: Field;
		prompt_extend: Field;
		watermark: Field;
		seed?: Field;
	};
	/** Replaces the maximum duration, in seconds, when any reference video is given. */
	maxDurationWithVideo?: number;
}

const resolutions = ['720P', '1080P'] as const;
const duration = { type: 'integer', default: 5, min: 2, max: 15 } as const;
const promptExtend = { type: 'boolean', default: true } as const;
const watermark = { type: 'boolean', default: false } as const;

export const referenceVideoModels: Readonly<Record<string, ReferenceVideoModel>> = {
	'alpha-1.1-r2v': {
		mediaTypes: ['reference_image'],
		references: { min: 1, max: 9 },
		firstFrames: { max: 0 },
		voice: false,
		parameters: {
			resolution: { type: 'string', default: '720P', values: resolutions },
			duration,
			prompt_extend: promptExtend,
			watermark,
			seed: { type: 'integer', min: 0, max: 2_147_483_647 },
		},
	},
	'beta-2.7-r2v': {
		mediaTypes,
		references: { max: 5 },
		firstFrames: { max: 1 },
		prompt: { max: 5000 },
		voice: true,
		parameters: {
			resolution: { type: 'string', default: '1080P', values: resolutions },
			ratio: {
				type: 'string',
				default: '16:9',
				values: ['16:9', '9:16', '1:1', '4:3', '3:4'],
			},
			duration,
			prompt_extend: promptExtend,
			watermark,
		},
		maxDurationWithVideo: 10,
	},
};

/** "Endpoints" 11: the models of `/v1/videos`. */
export const videoModels: Readonly<Record<string, { meaning: string }>> = {
	'vid-3.1': { meaning: 'Portrait, standard' },
	'vid-3.1-fl': { meaning: 'Portrait, frame-to-video' },
	'vid-3.1-fast': { meaning: 'Portrait, fast' },
	'vid-3.1-fast-fl': { meaning: 'Portrait, fast, frame-to-video' },
	'vid-3.1-landscape': { meaning: 'Landscape, standard' },
	'vid-3.1-landscape-fl': { meaning: 'Landscape, frame-to-video' },
	'vid-3.1-landscape-fast': { meaning: 'Landscape, fast' },
	'vid-3.1-landscape-fast-fl': { meaning: 'Landscape, fast, frame-to-video' },
};

/** The two kinds of long job, and how each is polled ("Endpoints" 2, 12 and "Limits"). Times in seconds. */
export type JobKind = 'task' | 'video';
export const jobKinds = {
	task: { endpoint: endpoints.task, pollSeconds: 10 },
	video: { endpoint: endpoints.video, pollSeconds: 5 },
} as const satisfies Record<JobKind, { endpoint: Endpoint; pollSeconds: number }>;

// ── 5. Authentication ───────────────────────────────────────────────────────────────────────────

/** "Authentication" 1 to 4. */
export const authentication = {
	header: 'Authorization',
	scheme: 'Bearer',
	invalidKey: { status: 401, code: 'invalid_api_key' },
	/** A result link that is fetched with the key. */
	keyOnResultLink: { status: 403 },
	/** A key whose group may not use the model. */
	noPermission: { status: 403 },
} as const;

// ── 6. Events ───────────────────────────────────────────────────────────────────────────────────

/** "Events": nothing is pushed; results come by polling, and chat chunks by server-sent events. */
export const events = { push: false, streamEnd: '[DONE]' } as const;

// ── 7. Errors ───────────────────────────────────────────────────────────────────────────────────

export interface ErrorMeaning {
	meaning: string;
	/** What the user can do about it. */
	advice: string;
	/** Whether the same request can succeed later without anybody changing anything. */
	heals: boolean;
}

/** "Error codes seen". */
export const errorCodes: Readonly<Record<string, ErrorMeaning>> = {
	invalid_api_key: {
		meaning: 'the API key is not valid',
		advice: 'Check the API key in the Model Gateway credential.',
		heals: false,
	},
	model_not_found: {
		meaning: 'the model does not exist',
		advice: 'Choose a model from the list, or check the id that was typed.',
		heals: false,
	},
	invalid_model: {
		meaning: 'the video model is not known',
		advice: 'Choose a video model from the list, or check the id that was typed.',
		heals: false,
	},
	invalid_prompt: {
		meaning: 'the prompt was refused for its length or content',
		advice: 'Change the prompt; sending the same one again gives the same answer.',
		heals: false,
	},
	video_not_found: {
		meaning: 'no video job has this id',
		advice: 'Check the job id; it may be older than 24 hours.',
		heals: false,
	},
	video_not_ready: {
		meaning: 'the video is not finished yet',
		advice: 'Use the Wait for Video node, or ask again later.',
		heals: true,
	},
	quota_exceeded: {
		meaning: 'the quota or balance is used up',
		advice: 'Top up the account or raise its quota, then run again.',
		heals: false,
	},
	invalid_image_file: {
		meaning: 'an input image is not valid',
		advice:
			'Save the image again as a plain PNG or JPEG (a multi-frame file with a .jpg name is refused) and resend it.',
		heals: false,
	},
	upstream_error: {
		meaning: "the model's provider had an error",
		advice: 'Run again later; if it stays, read the raw answer (raw_body).',
		heals: true,
	},
	write_response_body_failed: {
		meaning: 'the service could not deliver its answer',
		advice: 'Run again; the call was not billed.',
		heals: true,
	},
};

/** "Errors", both tables: what a status alone says, for answers whose code says nothing. */
export const statusMeanings: Readonly<Record<number, ErrorMeaning>> = {
	400: {
		meaning: 'the request was refused',
		advice:
			'Correct the value that the answer names. If the content was refused for safety, change the prompt or the media.',
		heals: false,
	},
	401: errorCodes.invalid_api_key,
	403: {
		meaning: 'not permitted',
		advice:
			"Either content moderation blocked it (change the prompt or the media), or the key's group may not use this model (ask the account's owner).",
		heals: false,
	},
	404: {
		meaning: 'not found',
		advice:
			'Check the id and the base URL in the credential. The base URL must not end in /v1, and a job may be too old: task ids are valid for 24 hours.',
		heals: false,
	},
	408: { meaning: 'the service gave up waiting', advice: 'Run again.', heals: true },
	429: {
		meaning: 'too many requests, or the balance is insufficient',
		advice:
			'Lower Parallel Requests, where the node has it, or run again later; check the balance if it stays like this.',
		heals: true,
	},
	500: {
		meaning: 'the service had an error',
		advice: 'Read the raw answer (raw_body), then run again later.',
		heals: true,
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

// ── 8. Limits ───────────────────────────────────────────────────────────────────────────────────

/** "Limits": those that belong to no single field. Seconds, minutes and hours as named. */
export const limits = {
	taskIdHours: 24,
	resultUrlHours: 24,
	videoUrlHours: 24,
	imageUrlMinutes: 10,
	minPollSeconds: 3,
	waitMinutes: 20,
} as const;

// ── 9. Versioning ───────────────────────────────────────────────────────────────────────────────

/** "Versioning" 1, 3 and 4. The native messages endpoint takes `<vendor>-version: <date>`. */
export const versioning = {
	generalPrefix: '/v1/',
	referenceVideoPrefix: '/wan/api/v1/',
	messageVersionHeaderSuffix: '-version',
	referenceVideoDocument: '1.0.0',
} as const;
