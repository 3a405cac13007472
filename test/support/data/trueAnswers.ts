import type { endpoints } from '../../../nodes/shared/gateway/protocol/endpoints';

const url = 'https://storage.example/v.mp4?Signature=a%2Fb';
const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } };
const picture = { type: 'image_url', image_url: { url: 'https://storage.example/p.png' } };

const completion = (message: object, finish_reason = 'stop') => ({
	...{ id: 'chat_1', object: 'chat.completion', created: 1, model: 'chat-1', usage },
	choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
});

/** Valid responses of every endpoint, for tests that damage them. */
export const trueAnswers = {
	referenceVideoCreate: [
		{ output: { task_id: 'task_1', task_status: 'PENDING' }, request_id: 'req_1' },
	],
	task: [
		{ task_id: 'task_1', status: 'in_progress', progress: 30 },
		{ task_id: 'task_1', status: 'completed', progress: 100, result_url: url },
		{ task_id: 'task_1', status: 'failed', error: { code: 'upstream_error', message: 'no' } },
	],
	videoCreate: [{ id: 'video_1', object: 'video', model: 'vid-3.1', status: 'queued' }],
	video: [
		{ id: 'video_1', status: 'processing', progress: 30 },
		{ id: 'video_1', status: 'completed', progress: 100 },
		{ id: 'video_1', status: 'failed', error: { code: 'upstream_error', message: 'no' } },
	],
	videoContent: [{ url }],
	models: [
		{ object: 'list', data: [{ id: 'chat-1', object: 'model', created: 1, owned_by: 'someone' }] },
	],
	chat: [
		completion({ content: 'Here: ![it](https://storage.example/p.png)' }),
		completion({ content: [{ type: 'text', text: 'Here:' }, picture] }),
		completion({ content: null, tool_calls: [call] }, 'tool_calls'),
	],
	message: [
		{
			...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'chat-1' },
			...{ content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn', usage },
		},
		completion({ content: null, tool_calls: [call] }, 'tool_calls'),
	],
	embedding: [
		{
			object: 'list',
			data: [
				{ object: 'embedding', index: 0, embedding: [0.5, -1, 2] },
				{ object: 'embedding', index: 1, embedding: 'AACAPwAAAEAAAEBA' },
			],
			...{ model: 'embed-1', usage: { prompt_tokens: 5, total_tokens: 5 } },
		},
	],
	imageGenerate: [
		{ created: 1, data: [{ url: picture.image_url.url, revised_prompt: 'A lighthouse' }] },
		{ data: [{ b64_json: 'iVBORw0KGgo=' }] },
	],
	imageEdit: [{ created: 1, data: [{ url: picture.image_url.url }] }],
} satisfies Record<keyof typeof endpoints, object[]>;
