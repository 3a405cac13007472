import type { AxiosInstance, AxiosResponse } from 'axios';
import { startGateway, type Gateway } from '../gateway';
import { clientOf } from '../gateway/client';

let gateway: Gateway;
let client: AxiosInstance;

beforeAll(async () => {
	gateway = await startGateway();
	client = clientOf(gateway);
});
afterAll(async () => await gateway.close());

const embed = async (input: unknown, change: object = {}): Promise<AxiosResponse> =>
	await client.post('/v1/embeddings', { model: 'embed-1', input, ...change });

const vectorsOf = ({ data }: AxiosResponse): number[][] =>
	data.data.map(({ embedding }: { embedding: number[] }) => embedding);

/** Of unit vectors. */
const cosine = (one: number[], other: number[]): number =>
	one.reduce((sum, value, index) => sum + value * other[index], 0);

it('answers with a list, billed by its tokens', async () => {
	const { status, data } = await embed('hello there');
	expect(status).toBe(200);
	expect(data).toEqual({
		object: 'list',
		data: [{ object: 'embedding', index: 0, embedding: expect.any(Array) }],
		model: 'embed-1',
		usage: { prompt_tokens: 2, total_tokens: 2 },
	});
	expect(gateway.ledger).toMatchObject([
		{ kind: 'embedding', model: 'embed-1', quantity: 2, unit: 'token' },
	]);
});

it('gives every text a unit vector of its own, in order', async () => {
	const texts = ['a', 'hello', 'HELLO ', '你好', 'word '.repeat(5000)];
	const answer = await embed(texts);
	expect(answer.data.data.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3, 4]);
	const vectors = vectorsOf(answer);
	for (const vector of vectors) {
		expect(vector).toHaveLength(256);
		expect(cosine(vector, vector)).toBeCloseTo(1, 5);
	}
	expect(vectors[2]).toEqual(vectors[1]);
	expect(vectorsOf(await embed('hello'))[0]).toEqual(vectors[1]);
});

it('places texts that are alike near each other', async () => {
	const [cat, alike, reordered, revenue, recipe] = vectorsOf(
		await embed([
			'The cat sat on the mat.',
			'A cat is sitting on the mat',
			'on the mat sat the cat',
			'Quarterly revenue grew by nine percent',
			'Boil the pasta for eight minutes',
		]),
	);
	expect(cosine(cat, alike)).toBeGreaterThan(0.4);
	expect(cosine(cat, reordered)).toBeGreaterThan(0.6);
	expect(Math.abs(cosine(cat, revenue))).toBeLessThan(0.2);
	expect(Math.abs(cosine(cat, recipe))).toBeLessThan(0.3);
});

it('finds the passage that a question is about', async () => {
	const passages = [
		'Invoices are due within thirty days of delivery.',
		'Our shop opens at nine and closes at six.',
		'Parcels are shipped with a tracking number.',
	];
	const [question, ...places] = vectorsOf(await embed(['When are invoices due?', ...passages]));
	const nearness = places.map((place) => cosine(question, place));
	expect(nearness.indexOf(Math.max(...nearness))).toBe(0);
});

it('has as many dimensions as the model, or fewer', async () => {
	expect(vectorsOf(await embed('hello', { model: 'embed-1-large' }))[0]).toHaveLength(1024);
	const [short] = vectorsOf(await embed('hello', { dimensions: 64 }));
	expect(short).toHaveLength(64);
	expect(cosine(short, short)).toBeCloseTo(1, 5);
});

it('encodes the same vector as base64', async () => {
	const [floats] = vectorsOf(await embed('hello', { encoding_format: 'float' }));
	const { data } = await embed('hello', { encoding_format: 'base64' });
	const bytes = Buffer.from(data.data[0].embedding, 'base64');
	expect(bytes).toHaveLength(256 * 4);
	expect(floats.map((_, index) => bytes.readFloatLE(index * 4))).toEqual(floats);
});

it('answers in another order when a fault says so', async () => {
	const texts = ['one', 'two', 'three'];
	const inOrder = (await embed(texts)).data;
	gateway.fault({ route: 'embedding', action: 'shuffle' });
	const { data } = (await embed(texts)).data;
	expect(data.map(({ index }: { index: number }) => index)).toEqual([2, 1, 0]);
	expect(data.reverse()).toEqual(inOrder.data);
});

it.each<[number, string, string, object]>([
	[400, 'invalid_parameter', 'model', { model: null }],
	[404, 'model_not_found', 'model', { model: 'chat-1' }],
	[400, 'invalid_parameter', 'input', { input: undefined }],
	[400, 'invalid_parameter', 'input', { input: [] }],
	[400, 'invalid_prompt', 'input', { input: '' }],
	[400, 'invalid_prompt', 'input', { input: ' \n' }],
	[400, 'invalid_prompt', 'input', { input: ['good', ''] }],
	[400, 'invalid_prompt', 'input', { input: ['good', 5] }],
	[400, 'invalid_prompt', 'input', { input: ['good', 'a [blocked] word'] }],
	[400, 'invalid_parameter', 'encoding_format', { encoding_format: 'hex' }],
	[400, 'invalid_parameter', 'dimensions', { dimensions: 257 }],
])('refuses with %i %s of %s: %j', async (status, code, param, change) => {
	const charges = gateway.ledger.length;
	const answer = await embed('hello', change);
	expect([answer.status, answer.data.error.code, answer.data.error.param]).toEqual([
		status,
		code,
		param,
	]);
	expect(gateway.ledger).toHaveLength(charges);
});
