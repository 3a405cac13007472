import { picture, twoFrameGif } from '../../support/data/samples';
import { refusalOf, served } from './served';

const at = served();
const user = (content: unknown) => ({ role: 'user', content });
const dataUrlOf = (bytes: Uint8Array) =>
	`data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
const seen = (url: string) => ({ messages: [user([{ type: 'image_url', image_url: { url } }])] });
const link = 'messages[0].content[0].image_url.url';

/** A valid body for each route. */
const bodies = {
	'chat/completions': { model: 'chat-1', messages: [user('hello')] },
	messages: { model: 'chat-1', max_tokens: 9, messages: [user('hello')] },
	embeddings: { model: 'embed-1', input: 'hello' },
	'images/generations': { model: 'image-1', prompt: 'a cat' },
	videos: { model: 'vid-3.1', prompt: 'a cat' },
};

type Refused = [number, string, string, object];
const rows: Record<keyof typeof bodies, Refused[]> = {
	'chat/completions': [
		[404, 'model_not_found', 'model', { model: 'embed-1' }],
		[400, 'invalid_parameter', 'messages', { messages: [] }],
		[400, 'invalid_parameter', 'messages[0].role', { messages: [{ role: 'me' }] }],
		[400, 'invalid_parameter', 'messages[0].content[0]', { messages: [user([{ type: 'audio' }])] }],
		[400, 'invalid_prompt', 'messages[0].content', { messages: [user('a [blocked] word')] }],
		[400, 'invalid_parameter', link, seen('http://example.com/a.png')],
		[400, 'invalid_image_file', link, seen(dataUrlOf(twoFrameGif))],
		[400, 'invalid_image_file', link, seen(dataUrlOf(picture('red').subarray(0, 60)))],
		[400, 'invalid_parameter', 'temperature', { temperature: 2.1 }],
		[400, 'invalid_parameter', 'top_p', { top_p: -0.1 }],
		[400, 'invalid_parameter', 'max_tokens', { max_tokens: 1.5 }],
		[400, 'invalid_parameter', 'stop', { stop: [1] }],
		[400, 'invalid_parameter', 'stream', { stream: 'yes' }],
		[400, 'invalid_parameter', 'temperature', { model: 'reason-1', temperature: 1 }],
		[400, 'invalid_parameter', 'top_p', { model: 'reason-1', top_p: 1 }],
		[400, 'invalid_parameter', 'frequency_penalty', { model: 'reason-1', frequency_penalty: 0 }],
		[
			...([400, 'invalid_parameter', 'messages[0].role'] as const),
			{ model: 'reason-1', messages: [{ role: 'system', content: 'Be brief.' }] },
		],
	],
	messages: [
		[404, 'model_not_found', 'model', { model: 'image-chat-1' }],
		[400, 'invalid_parameter', 'max_tokens', { max_tokens: undefined }],
		[400, 'invalid_prompt', 'messages[0].content', { messages: [user('')] }],
	],
	embeddings: [
		[404, 'model_not_found', 'model', { model: 'chat-1' }],
		[400, 'invalid_parameter', 'input', { input: [] }],
		[400, 'invalid_parameter', 'input', { input: [['good']] }],
		[400, 'invalid_prompt', 'input', { input: ['good', ' \n'] }],
		[400, 'invalid_parameter', 'encoding_format', { encoding_format: 'hex' }],
		[400, 'invalid_parameter', 'dimensions', { dimensions: 257 }],
	],
	'images/generations': [
		[404, 'model_not_found', 'model', { model: 'chat-1' }],
		[400, 'invalid_prompt', 'prompt', { prompt: 'a [blocked] word' }],
		[400, 'invalid_parameter', 'n', { n: 11 }],
		[400, 'invalid_parameter', 'size', { size: '512x512' }],
		[400, 'invalid_parameter', 'aspect_ratio', { model: 'image-1-kontext', aspect_ratio: 'wide' }],
		[400, 'invalid_parameter', 'seed', { seed: 'seven' }],
	],
	videos: [
		[400, 'invalid_model', 'model', { model: 'alpha-1.1-r2v' }],
		[400, 'invalid_prompt', 'prompt', { prompt: '' }],
		[400, 'invalid_prompt', 'prompt', { prompt: '[blocked]' }],
	],
};

describe.each(Object.keys(rows) as Array<keyof typeof bodies>)('POST /v1/%s', (route) => {
	it.each(rows[route])(
		'refuses a request with %i %s for %s and charges nothing: %j',
		async (status, code, param, change) => {
			const charges = at.gateway.ledger.length;
			const headers = { 'vendor-version': '2023-06-01' };
			const body = { ...bodies[route], ...change };
			const response = await at.client.post(`/v1/${route}`, body, { headers });
			expect(refusalOf(response)).toEqual([status, code, param]);
			expect(at.gateway.ledger).toHaveLength(charges);
		},
	);
});

describe('the API', () => {
	const tokens = 'input has token numbers where texts are expected';
	it.each<[string, keyof typeof bodies, object]>([
		['max_tokens must be a whole number of at least 1 (it is 0)', 'messages', { max_tokens: 0 }],
		[
			'max_tokens must be a whole number of at least 1 (it is 0)',
			'chat/completions',
			{ max_tokens: 0 },
		],
		['n must be a whole number from 1 to 10 (it is 11)', 'chat/completions', { n: 11 }],
		['input must be a text or an array of texts', 'embeddings', { input: 5 }],
		[`${tokens} (it is an array of integers)`, 'embeddings', { input: [9906, 1917] }],
		[`${tokens} (it is an array of arrays of integers)`, 'embeddings', { input: [[9906], [1917]] }],
	])('says in the refusal: %s', async (message, route, change) => {
		const headers = { 'vendor-version': '2023-06-01' };
		const body = { ...bodies[route], ...change };
		const { status, data } = await at.client.post(`/v1/${route}`, body, { headers });
		expect([status, data.error]).toMatchObject([400, { code: 'invalid_parameter', message }]);
	});

	it('refuses an unknown route with 404', async () => {
		const response = await at.client.get('/v1/nowhere');
		expect(response.data.error).toEqual({
			...{ message: 'there is no GET /v1/nowhere', type: 'invalid_request_error' },
			...{ param: null, code: 'not_found' },
		});
		expect(response.status).toBe(404);
	});

	it.each(['/v1/videos/x', '/v1/videos/x/content'])(
		'refuses an unknown video job with 404 at %s',
		async (path) => {
			const response = await at.client.get(path);
			expect(refusalOf(response)).toEqual([404, 'video_not_found', 'video_id']);
		},
	);
});
