import { endpoints } from '../../../../nodes/shared/service/protocol/endpoints';

describe('endpoints', () => {
	it.each<[keyof typeof endpoints, string]>([
		['referenceVideoCreate', 'POST /wan/api/v1/services/aigc/video-generation/video-synthesis'],
		['task', 'GET /v1/tasks/{id}'],
		['chat', 'POST /v1/chat/completions'],
		['message', 'POST /v1/messages'],
		['embedding', 'POST /v1/embeddings'],
		['models', 'GET /v1/models'],
		['imageGenerate', 'POST /v1/images/generations'],
		['imageEdit', 'POST /v1/images/edits'],
		['videoCreate', 'POST /v1/videos'],
		['video', 'GET /v1/videos/{id}'],
		['videoContent', 'GET /v1/videos/{id}/content'],
	])('gives the endpoint %s the address %s', (name, expected) => {
		const { method, path } = endpoints[name];
		expect(`${method} ${path}`).toBe(expected);
	});
});
