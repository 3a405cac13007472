import type { ResponseKind } from './bounds';
import type { Fields } from './fields';
import type { ModelKind } from './models';

/**
 * The cost of a request, and so when it may be sent again without asking the user.
 * - `read`: it costs nothing, and may always be sent again.
 * - `generation`: a chat, an embedding or an image may be sent again unless a 2xx response had begun to arrive: a call
 *   whose response was lost is not charged ("Errors", status 0).
 * - `job`: an expensive job may be sent again only when the service certainly did not accept it, or recognises it by
 *   its idempotency key.
 */
export type Cost = 'read' | 'generation' | 'job';

export interface Endpoint {
	method: 'GET' | 'POST';
	/** Relative to the base URL; `{id}` stands for the job's id. */
	path: string;
	cost: Cost;
	/** Our own limit for the response; the specification has none. */
	timeoutSeconds: number;
	/** Bounds the size of the response. */
	response: ResponseKind;
	/** Polls of both kinds take turns, at most every `minPollSeconds` for each ID, which may be of either kind. */
	isPoll?: true;
	fields?: Fields;
	/** Unknown models are sent, too. */
	models?: ModelKind;
	/** Set where a request is accepted only with {@link asyncHeader}. */
	isAsync?: true;
}

const read = { method: 'GET', cost: 'read', timeoutSeconds: 60, response: 'document' } as const;
/** "Endpoints" 2 states a minimum for tasks; for video jobs it only recommends a longer interval (12). */
const poll = { ...read, response: 'job', isPoll: true } as const;
const generation = { method: 'POST', cost: 'generation', timeoutSeconds: 600 } as const;
const job = { method: 'POST', cost: 'job', timeoutSeconds: 60, response: 'document' } as const;

const text = { type: 'string' } as const;
const requiredText = { type: 'string', required: true } as const;

/** "Endpoints" 1 to 13, except the downloads of 3 and 13, whose links the service gives. */
export const endpoints = {
	referenceVideoCreate: {
		...job,
		path: '/wan/api/v1/services/aigc/video-generation/video-synthesis',
		models: 'referenceVideo',
		isAsync: true,
		fields: {
			model: requiredText,
			'input.prompt': requiredText,
			'input.media': { type: 'array', required: true },
			parameters: { type: 'object' },
		},
	},
	task: { ...poll, path: '/v1/tasks/{id}' },
	chat: {
		...generation,
		response: 'text',
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
		...generation,
		response: 'text',
		path: '/v1/messages',
		fields: { model: text, max_tokens: { type: 'integer' }, messages: { type: 'array' } },
	},
	embedding: {
		...generation,
		response: 'files',
		path: '/v1/embeddings',
		fields: {
			model: text,
			input: { type: 'string | array' },
			// The usual name; the specification does not show it.
			encoding_format: { type: 'string', values: ['float', 'base64'] },
		},
	},
	models: { ...read, path: '/v1/models' },
	imageGenerate: {
		...generation,
		response: 'files',
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
		...generation,
		response: 'files',
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
		...job,
		path: '/v1/videos',
		models: 'video',
		fields: { prompt: requiredText, model: requiredText },
	},
	video: { ...poll, path: '/v1/videos/{id}' },
	videoContent: { ...read, response: 'job', path: '/v1/videos/{id}/content' },
} as const satisfies Record<string, Endpoint>;

/** "Endpoints" 4: what reasoning-series models refuse. */
export const reasoningRefuses = {
	fields: ['temperature', 'top_p', 'frequency_penalty'],
	roles: ['system'],
} as const;

/** "Endpoints" 1: the header without which a task is not accepted. The credential can change its name. */
export const asyncHeader = { name: 'X-Gateway-Async', value: 'enable' } as const;

/** "Endpoints" 5: the prefix of the name is not shown, and the value is a date. The user can change both. */
export const versionHeader = { name: 'X-Gateway-Version', value: '2023-06-01' } as const;

/** "Endpoints" 10: the markers with which a prompt for a chat image model may end. */
export const aspectMarkers = ['【2:3】', '【3:2】', '【1:1】'] as const;

/** "What the service does", billing rule 3: the header with the ID of a request. */
export const requestIdHeader = 'x-request-id';
