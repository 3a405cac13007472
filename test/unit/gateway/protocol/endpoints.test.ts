import {
	aspectMarkers,
	asyncHeader,
	endpoints,
	requestIdHeader,
	type Cost,
	type Endpoint,
} from '../../../../nodes/shared/gateway/protocol/endpoints';

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

	it('lists as many endpoints as the specification', () => {
		expect(Object.keys(endpoints)).toHaveLength(11);
	});

	it('sorts every endpoint into reads, jobs and generations', () => {
		const byCost = (cost: Cost) =>
			Object.entries<Endpoint>(endpoints)
				.filter(([, endpoint]) => endpoint.cost === cost)
				.map(([name]) => name);
		expect(byCost('read')).toEqual(['task', 'models', 'video', 'videoContent']);
		expect(byCost('job')).toEqual(['referenceVideoCreate', 'videoCreate']);
		expect(byCost('generation')).toHaveLength(5);
	});

	it('lists the chat fields with their defaults and limits', () => {
		expect(endpoints.chat.fields).toMatchObject({
			model: { required: true },
			messages: { required: true },
			temperature: { default: 1, min: 0, max: 2 },
			top_p: { default: 1, min: 0, max: 1 },
			frequency_penalty: { default: 0, min: -2, max: 2 },
			presence_penalty: { default: 0, min: -2, max: 2 },
			stream: { default: false },
			n: { default: 1 },
		});
		expect(Object.keys(endpoints.chat.fields)).toHaveLength(11);
	});

	it('lists the fields of image generation and image editing', () => {
		expect(Object.keys(endpoints.imageGenerate.fields)).toEqual([
			...['model', 'prompt', 'n', 'size', 'quality', 'style', 'aspect_ratio', 'seed'],
			...['prompt_upsampling', 'safety_tolerance'],
		]);
		expect(Object.keys(endpoints.imageEdit.fields)).toEqual([
			...['model', 'image', 'prompt', 'mask', 'n', 'size', 'aspect_ratio'],
		]);
	});

	it("names the service's headers and aspect markers", () => {
		expect(asyncHeader).toEqual({ name: 'X-Gateway-Async', value: 'enable' });
		expect(requestIdHeader).toBe('x-request-id');
		expect(aspectMarkers).toEqual(['【2:3】', '【3:2】', '【1:1】']);
	});
});
