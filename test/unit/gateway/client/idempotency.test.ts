import type { Connection } from '../../../../nodes/shared/gateway/client/connection';
import { idempotencyKeyOf } from '../../../../nodes/shared/gateway/client/idempotency';
import { GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import { endpoints } from '../../../../nodes/shared/gateway/protocol/endpoints';
import { chat, create, created, error, list, models, poll } from '../../../support/workflows/calls';
import {
	failureOf,
	gatewayTo,
	key,
	shown,
	type WorldOptions,
} from '../../../support/workflows/gatewayWorld';
import {
	json,
	redirect,
	reset,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../../../support/http/scriptedServer';

describe('orders with an idempotency key', () => {
	const name = 'Idempotency-Key';
	const idempotencyKey = '0b5a7c62-3a7e-4f0c-a1d2-5e6f7a8b9c0d';
	const ordering = (baseUrl: string, more: { backupUrl?: string } = {}, options?: WorldOptions) =>
		gatewayTo({ baseUrl, idempotencyHeaderName: name, ...more }, options).withIdempotency({
			idempotencyKey,
		});
	const lossOf = async (baseUrl: string): Promise<GatewayError> => {
		const outcome: unknown = await ordering(baseUrl)
			.call(create)
			.catch((cause: unknown) => cause);
		if (outcome instanceof GatewayError) return outcome;
		throw new Error('the order was not lost');
	};
	const keysOf = (...servers: ScriptedServer[]) =>
		servers.flatMap(({ requests }) => requests.map(({ headers }) => headers['idempotency-key']));

	it.each<[string, Reply]>([
		['gets no response', reset],
		['gets HTTP 409 because it is still under way', error(409, {})],
	])('sends an order again with the same key and the same bytes when it %s', async (_, reply) => {
		for (const endpoint of [endpoints.videoCreate, endpoints.referenceVideoCreate]) {
			const server = await startServer(reply, reply, created);
			const body = { ...create.body, input: { media: [{}] } };
			const job = await ordering(server.url).call({ ...create, endpoint, body });
			expect(job).toMatchObject({ id: 'video_1' });
			expect(keysOf(server)).toEqual([idempotencyKey, idempotencyKey, idempotencyKey]);
			expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
		}
	});

	it('keeps the key of an order at the backup URL and after a redirect', async () => {
		const backup = await startServer(redirect(307, '/new/v1/videos'), created);
		const base = await startServer(reset);
		await ordering(base.url, { backupUrl: backup.url }).call(create);
		expect(keysOf(base, backup)).toEqual([idempotencyKey, idempotencyKey, idempotencyKey]);
	});

	it('reports the key of an order when no attempt gets a response', async () => {
		const server = await startServer(reset);
		const loss = await lossOf(server.url);
		const { message, record } = shown(loss);
		expect(message).toBe(
			'Could not create the video: the connection was lost before the response arrived',
		);
		expect(record).toMatchObject({ billed: 'unknown', retry_can_help: true });
		expect(record.advice).toContain(
			"n8n's Retry of this execution sends it again with the same key",
		);
		expect(loss.failure.idempotencyKey).toBe(idempotencyKey);
		expect(server.requests).toHaveLength(5);
	});

	it('reports an order as possibly accepted when it was lost and a later attempt is refused', async () => {
		const server = await startServer(reset, error(401, { code: 'invalid_api_key' }));
		const first = await failureOf(ordering(server.url).call(create));
		expect(first.record).toMatchObject({ status: 401, billed: 'unknown', retry_can_help: false });
		expect(first.record.advice).toMatch(/^Check the API key.*may have been accepted/);
	});

	it('reports an order as possibly accepted when it was lost in an earlier run and is now refused', async () => {
		const lost = await startServer(reset);
		const { failure: earlier } = await lossOf(lost.url);
		const server = await startServer(error(400, { message: 'another body' }));
		const order = { idempotencyKey, earlierFailure: earlier };
		const { message, record } = await failureOf(
			ordering(server.url).withIdempotency(order).call(create),
		);
		expect(message).toBe('Could not create the video: another body (HTTP 400)');
		expect(record.billed).toBe('unknown');
	});

	it('sends the key of an order with no other kind of request and to no other address', async () => {
		const server = await startServer(list, json({}), json({ status: 'queued' }));
		const gateway = ordering(server.url);
		for (const call of [models, chat, poll]) await gateway.call(call);
		const other = await startServer(created);
		const leading = await startServer(redirect(307, `${other.url}/v1/videos`));
		await failureOf(ordering(leading.url).call(create));
		expect(keysOf(server, other)).toEqual([undefined, undefined, undefined]);
		expect(other.requests).toEqual([]);
	});

	it('sends an order only once when the credential names no header for its key', async () => {
		const server = await startServer(reset, created);
		const gateway = gatewayTo(server.url).withIdempotency({ idempotencyKey });
		expect((await failureOf(gateway.call(create))).record.retry_can_help).toBe(false);
		expect(server.requests).toHaveLength(1);
		expect(JSON.stringify(server.requests)).not.toContain(idempotencyKey);
	});
});

describe('the idempotency key', () => {
	const connection = {
		...{ baseUrl: 'https://gateway.example', asyncHeaderName: 'A', key },
		idempotencyHeaderName: 'Idempotency-Key',
	};
	const of = (orderId: string, more: Partial<Connection> = {}) =>
		idempotencyKeyOf(orderId, { ...connection, ...more });

	it('makes the same UUID for the same order', () => {
		expect(of('1')).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/);
		expect(of('1', { idempotencyHeaderName: 'idempotency-key', key: 'other' })).toBe(of('1'));
	});

	it('makes another UUID for another order, header or address', () => {
		const address = { baseUrl: 'https://other.example' };
		const keys = [of('1'), of('2'), of('1', address), of('1', { idempotencyHeaderName: 'X-Key' })];
		expect(new Set(keys).size).toBe(4);
	});
});
