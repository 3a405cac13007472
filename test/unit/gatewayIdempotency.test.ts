import type { AxiosResponse } from 'axios';
import { setTimeout } from 'node:timers/promises';
import { startGateway, type Gateway } from '../gateway';
import { clientOf, createTask } from '../gateway/client';

const idempotencyHeader = 'Idempotency-Key';
let gateway: Gateway;

beforeEach(async () => {
	gateway = await startGateway({
		...{ jobSeconds: Infinity, idempotencyHeader },
		keys: { free: {}, other: {} },
	});
});
afterEach(async () => await gateway.close());

const create = async (
	prompt: string,
	key: string | undefined,
	{ apiKey = 'free', url = gateway.url } = {},
): Promise<AxiosResponse> =>
	await clientOf({ url, apiKey }).post(
		'/v1/videos',
		{ model: 'vid-3.1', prompt },
		{ headers: { 'idempotency-key': key } },
	);

it('gives the recorded answer to the same order, and neither makes nor bills a second job', async () => {
	const first = await create('a cat', 'key-1');
	gateway.jobs.start(first.data.id);
	const again = await create('a cat', 'key-1', { url: gateway.backupUrl });
	expect([again.status, again.data]).toEqual([200, first.data]);
	expect(gateway.requests.at(-1)?.jobId).toBe(first.data.id);
	expect(gateway.jobs.list()).toHaveLength(1);
	expect(gateway.ledger).toHaveLength(1);
});

it('knows tasks by their keys, too', async () => {
	const client = clientOf(gateway);
	client.defaults.headers.common['idempotency-key'] = 'key-1';
	const media = [{ type: 'reference_image', url: `${gateway.storageUrl}/a.png` }];
	const body = { model: 'alpha-1.1-r2v', input: { prompt: 'a cat', media } };
	const [first, again] = [await createTask(client, body), await createTask(client, body)];
	expect(first.data.output.task_id).toBeDefined();
	expect(again.data).toEqual(first.data);
	expect(gateway.ledger).toHaveLength(1);
});

it('refuses another order with the same key', async () => {
	await create('a cat', 'key-1');
	const { status, data } = await create('a dog', 'key-1');
	expect([status, data.error.code]).toEqual([400, 'idempotency_key_reused']);
	expect(gateway.ledger).toHaveLength(1);
});

it('refuses the same order while the first is under way', async () => {
	gateway.fault({ route: 'videoCreate', action: 'stall', accepted: true, seconds: 0.2 });
	const first = create('a cat', 'key-1');
	while (gateway.ledger.length === 0) await setTimeout(1);
	const second = await create('a cat', 'key-1');
	expect([second.status, second.data.error.code]).toEqual([409, 'idempotency_key_in_use']);
	const { data } = await first;
	expect((await create('a cat', 'key-1')).data).toEqual(data);
	expect(gateway.ledger).toHaveLength(1);
});

it('gives the recorded answer when the first was lost', async () => {
	gateway.fault({ route: 'videoCreate', action: 'reset', accepted: true });
	await expect(create('a cat', 'key-1')).rejects.toThrow();
	const { data } = await create('a cat', 'key-1');
	expect(gateway.ledger).toMatchObject([{ job: data.id }]);
});

it('takes every other order for a new one', async () => {
	await create('a cat', 'key-1');
	await create('a cat', 'key-2');
	await create('a cat', undefined);
	await create('a cat', undefined);
	await create('a cat', 'key-1', { apiKey: 'other' });
	expect(gateway.ledger).toHaveLength(5);
});

it('leaves the key of a refused order free', async () => {
	expect((await create('', 'key-1')).status).toBe(400);
	expect((await create('a cat', 'key-1')).status).toBe(200);
});

it('knows no keys unless it is told to', async () => {
	const plain = await startGateway({ jobSeconds: Infinity });
	await create('a cat', 'key-1', { apiKey: plain.apiKey, url: plain.url });
	await create('a cat', 'key-1', { apiKey: plain.apiKey, url: plain.url });
	expect(plain.ledger).toHaveLength(2);
	await plain.close();
});
