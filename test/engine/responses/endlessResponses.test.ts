import { registerTypes, testCredential } from '../../harness';
import { subjects, tryNode, user } from '../../support/workflows/everyNode';
import { endless, startServer } from '../../support/http/scriptedServer';
import { credentialFor } from '../../support/workflows/workflows';

const lists = '[],'.repeat(10_000);
const refusal = `{"error":{"message":"no","more":[${lists}`;

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
		const [, chat] = subjects.find(([name]) => name === 'chat complete')!;
		expect(await tryNode(chat, { continues: false, json: {}, gateway })).toMatchObject({
			message: expect.stringMatching(/"message":"no".* \(HTTP 400\)/),
			record: { billed: 'no' },
		});
		await server.idle();
	});

	it.each([
		['empty lists', `[${lists}`, 200],
		['numbers', `[${'0,'.repeat(10_000)}`, 200],
		['spaces and objects', `[${`${' '.repeat(50)}{},`.repeat(1_000)}`, 200],
		['an error', refusal, 500],
	])('ends the test of a credential: %s', async (_, part, status) => {
		const { server, gateway } = await start(part, status);
		expect(await testCredential('modelGatewayApi', credentialFor(gateway).modelGatewayApi)).toEqual(
			{
				status: 'Error',
				message: expect.stringMatching(
					status === 200 ? /it gave no list of models/ : /gave no response \(HTTP 500\)/,
				),
			},
		);
		expect(server.requests).toHaveLength(1);
		await server.idle();
	});
});
