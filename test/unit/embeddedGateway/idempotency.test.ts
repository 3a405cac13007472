import type { AxiosResponse } from 'axios';
import { setTimeout } from 'node:timers/promises';
import { served } from './served';

const at = served({ jobSeconds: Infinity, idempotencyHeader: 'Idempotency-Key' });

const create = async (prompt: string, key: string): Promise<AxiosResponse> =>
	await at.client.post(
		'/v1/videos',
		{ model: 'vid-3.1', prompt },
		{ headers: { 'idempotency-key': key } },
	);

describe('idempotency keys', () => {
	it('refuses an idempotency key that another order has used', async () => {
		await create('a cat', 'reused');
		const { status, data } = await create('a dog', 'reused');
		expect([status, data.error.code]).toEqual([400, 'idempotency_key_reused']);
	});

	it('refuses an idempotency key with 409 while its first order is under way', async () => {
		const before = at.gateway.ledger.length;
		at.gateway.fault({ route: 'videoCreate', action: 'stall', accepted: true, seconds: 0.2 });
		const first = create('a cat', 'in use');
		while (at.gateway.ledger.length === before) await setTimeout(1);
		const second = await create('a cat', 'in use');
		expect([second.status, second.data.error.code]).toEqual([409, 'idempotency_key_in_use']);
		const { data } = await first;
		expect((await create('a cat', 'in use')).data).toEqual(data);
		expect(at.gateway.ledger).toHaveLength(before + 1);
	});

	it('accepts an idempotency key again after its order was refused', async () => {
		expect((await create('', 'refused')).status).toBe(400);
		expect((await create('a cat', 'refused')).status).toBe(200);
	});
});
