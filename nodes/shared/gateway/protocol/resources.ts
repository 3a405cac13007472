import type { Fields } from './fields';

/** "Resources and their fields": the fields that the specification names for each response. */
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

/** "Message": `function` and `tool` exist for some models only. */
export const messageRoles = ['system', 'user', 'assistant', 'function', 'tool'] as const;
