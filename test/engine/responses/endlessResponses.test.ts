import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { responseMemory } from '../../../nodes/shared/service/client/responseMemory';
import { registerTypes, testCredential } from '../../harness';
import { subjects, tryNode, user } from '../../support/workflows/everyNode';
import { endless, startServer } from '../../support/http/scriptedServer';
import { credentialFor } from '../../support/workflows/workflows';

const lists = '[],'.repeat(10_000);
const refusal = `{"error":{"message":"no","more":[${lists}`;

const [, chat] = subjects.find(([name]) => name === 'chat complete')!;

/** A service that responds to each request without end. */
const start = async (part = `[${lists}`, status = 200) => {
	const headers = { 'content-type': 'application/json' };
	const server = await startServer(endless(part, headers, status));
	return { server, gateway: { url: server.url, apiKey: 'demo-key-0123456789' } };
};

describe('a response without end', () => {
	beforeAll(() => registerTypes({ nodes: [user] }));

	it('gives the reason of a refusal from its beginning', async () => {
		const { server, gateway } = await start(refusal, 400);
		expect(await tryNode(chat, { continues: false, json: {}, gateway })).toMatchObject({
			message: expect.stringMatching(/"message":"no".* \(HTTP 400\)/),
			record: { billed: 'no' },
		});
		await server.idle();
	});

	it('is given up by what comes out of its compression, and leaves the memory to others', async () => {
		const pieces = function* () {
			yield '{"choices":[{"message":{"content":"';
			for (;;) yield 'Once more. '.repeat(100_000);
		};
		const server = await startServer((response) => {
			response.writeHead(200, { 'content-encoding': 'gzip' });
			pipeline(Readable.from(pieces()), createGzip(), response, () => undefined);
		});
		const gateway = { url: server.url, apiKey: 'demo-key-0123456789' };
		expect(await tryNode(chat, { continues: false, json: {}, gateway })).toMatchObject({
			message: expect.stringContaining('has more than 100 million characters'),
			record: { billed: 'unknown', retry_can_help: false },
		});
		await server.idle();
		expect(responseMemory.heldBytes).toBe(0);
	});

	it.each([
		['empty lists', `[${lists}`, 200],
		['an error', refusal, 500],
	])('ends the test of a credential: %s', async (_, part, status) => {
		const { server, gateway } = await start(part, status);
		expect(await testCredential('modelGatewayApi', credentialFor(gateway).modelGatewayApi)).toEqual(
			{
				status: 'Error',
				message: expect.stringMatching(
					status === 200 ? /No gateway responds there/ : /\(HTTP 500\)\. Test again later/,
				),
			},
		);
		expect(server.requests).toHaveLength(1);
		await server.idle();
	});
});
