import type { Connection } from '../../../../nodes/shared/service/client/connection';
import { idempotencyKeyOf } from '../../../../nodes/shared/service/client/idempotency';
import { asGatewayError, GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';
import { endpoints } from '../../../../nodes/shared/service/protocol/endpoints';
import { chat, create, created, error, list, models, poll } from '../../../support/workflows/calls';
import { failureOf, gatewayTo, key, shown } from '../../../support/workflows/gatewayWorld';
import {
	json,
	redirect,
	reset,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../../../support/http/scriptedServer';

describe('an order with an idempotency key', () => {
	const idempotencyHeaderName = 'Idempotency-Key';
	const idempotencyKey = '0b5a7c62-3a7e-4f0c-a1d2-5e6f7a8b9c0d';
	const ordering = (baseUrl: string, more: { backupUrl?: string } = {}) =>
		gatewayTo({ baseUrl, idempotencyHeaderName, ...more }).with({
			idempotency: { idempotencyKey },
		});
	const keysOf = (...servers: ScriptedServer[]) =>
		servers.flatMap(({ requests }) => requests.map(({ headers }) => headers['idempotency-key']));

	it.each<[string, Reply]>([
		['gets no response', reset],
		['gets HTTP 409 because it is still under way', error(409, {})],
	])('is sent again with the same key and the same bytes when it %s', async (_, reply) => {
		for (const endpoint of [endpoints.videoCreate, endpoints.referenceVideoCreate]) {
			const server = await startServer(reply, reply, created);
			const body = { ...create.body, input: { media: [{}] } };
			const job = await ordering(server.url).call({ ...create, endpoint, body });
			expect(job).toMatchObject({ id: 'video_1' });
			expect(keysOf(server)).toEqual([idempotencyKey, idempotencyKey, idempotencyKey]);
			expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
		}
	});

	it('must not be ordered again where each 409 says that an earlier try arrived', async () => {
		const server = await startServer(error(409, { message: 'in progress' }));
		const { record } = await failureOf(ordering(server.url).call(create));
		expect(record.message).toBe('Could not create the video: in progress (HTTP 409)');
		expect(record.advice).toContain('do not order it again');
	});

	it('keeps its key at the backup URL and after a redirect', async () => {
		const backup = await startServer(redirect(307, '/new/v1/videos'), created);
		const base = await startServer(reset);
		await ordering(base.url, { backupUrl: backup.url }).call(create);
		expect(keysOf(base, backup)).toEqual([idempotencyKey, idempotencyKey, idempotencyKey]);
	});

	it('is reported as possibly accepted, with its key, however a later run or try is refused', async () => {
		const silent = await startServer(reset);
		const loss = await ordering(silent.url).call(create).catch(asGatewayError);
		if (!(loss instanceof GatewayError)) throw new Error('the order was not lost');
		const { record } = shown(loss);
		expect(record).toMatchObject({ billed: 'unknown', retry_can_help: true });
		expect(record.advice).toContain("n8n's Retry of this execution sends it again");
		expect(loss.failure.idempotencyKey).toBe(idempotencyKey);

		const refusing = await startServer(error(400, { message: 'another body' }));
		const order = { idempotencyKey, earlierFailure: loss.failure };
		const later = ordering(refusing.url).with({ idempotency: order }).call(create);
		expect((await failureOf(later)).record).toMatchObject({
			message: 'Could not create the video: another body (HTTP 400)',
			billed: 'unknown',
		});

		const server = await startServer(reset, error(401, { code: 'invalid_api_key' }));
		const refused = await failureOf(ordering(server.url).call(create));
		expect(refused.record).toMatchObject({ status: 401, billed: 'unknown', retry_can_help: false });
		expect(refused.record.advice).toMatch(/^Check the API key.*may have been accepted/);
	});

	it('sends its key with no other kind of request and to no other address', async () => {
		const server = await startServer(list, json({}), json({ status: 'queued' }));
		const gateway = ordering(server.url);
		for (const call of [models, chat, poll]) await gateway.call(call);
		const other = await startServer(created);
		const leading = await startServer(redirect(307, `${other.url}/v1/videos`));
		await failureOf(ordering(leading.url).call(create));
		expect(keysOf(server, other)).toEqual([undefined, undefined, undefined]);
		expect(other.requests).toEqual([]);
	});

	it('is sent only once when the credential names no header for its key', async () => {
		const server = await startServer(reset, created);
		const gateway = gatewayTo(server.url).with({ idempotency: { idempotencyKey } });
		expect((await failureOf(gateway.call(create))).record.retry_can_help).toBe(false);
		expect(server.requests).toHaveLength(1);
		expect(JSON.stringify(server.requests)).not.toContain(idempotencyKey);
	});
});

it('makes the same key for the same order, and another for another order, header or address', () => {
	const of = (orderId: string, more: Partial<Connection> = {}) =>
		idempotencyKeyOf(orderId, {
			baseUrl: 'https://gateway.example',
			asyncHeaderName: 'A',
			key,
			idempotencyHeaderName: 'Idempotency-Key',
			...more,
		});
	expect(of('1')).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/);
	expect(of('1', { idempotencyHeaderName: 'idempotency-key', key: 'other' })).toBe(of('1'));
	const address = { baseUrl: 'https://other.example' };
	const keys = [of('1'), of('2'), of('1', address), of('1', { idempotencyHeaderName: 'X-Key' })];
	expect(new Set(keys).size).toBe(4);
});
