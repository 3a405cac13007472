import { served } from '../served';

const at = served();

describe('POST /v1/embeddings', () => {
	it('returns a list in the form of the specification, and charges its tokens', async () => {
		const body = { model: 'embed-1', input: 'hello there' };
		const { status, data } = await at.client.post('/v1/embeddings', body);
		expect(status).toBe(200);
		expect(data).toEqual({
			object: 'list',
			data: [{ object: 'embedding', index: 0, embedding: expect.any(Array) }],
			model: 'embed-1',
			usage: { prompt_tokens: 2, total_tokens: 2 },
		});
		expect(at.gateway.ledger).toMatchObject([
			{ kind: 'embedding', model: 'embed-1', quantity: 2, unit: 'token' },
		]);
	});
});
