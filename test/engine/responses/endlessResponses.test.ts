import { listSearch, registerTypes, testCredential } from '../../harness';
import { subjects, tryNode, user } from '../../support/workflows/everyNode';
import { endless, startServer } from '../../support/http/scriptedServer';
import { credentialFor } from '../../support/workflows/workflows';

const lists = '[],'.repeat(10_000);
const refusal = `{"error":{"message":"no","more":[${lists}`;
const tooMany = /has more lists, objects and texts in it than any response of the service needs/;

/** A service that responds to each request without end. */
const start = async (part = `[${lists}`, status = 200) => {
	const headers = { 'content-type': 'application/json' };
	const server = await startServer(endless(part, headers, status));
	return { server, gateway: { url: server.url, apiKey: 'demo-key-0123456789' } };
};

describe('a response without end', () => {
	beforeAll(() => registerTypes({ nodes: [user] }));

	const asked = subjects.filter(
		([name, { serves }]) => !name.startsWith('Wait') && serves !== 'ai_languageModel',
	);
	it.each(asked)('ends with an error and a closed connection: %s', async (_, subject) => {
		const { server, gateway } = await start();
		const json = { task_id: 'task_1', id: 'video_1' };
		// The outcome of what was ordered is unknown. A list of models costs nothing.
		const billed = subject.routes.includes('models') ? 'no' : 'unknown';
		expect(await tryNode(subject, { continues: false, gateway, json })).toMatchObject({
			message: expect.stringMatching(tooMany),
			record: { billed, retry_can_help: false },
		});
		expect(server.requests).toHaveLength(1);
		await server.idle();
	});

	it('gives the reason of a refusal from its beginning', async () => {
		const { server, gateway } = await start(refusal, 400);
		const [, chat] = subjects.find(([name]) => name === 'chat complete')!;
		expect(await tryNode(chat, { continues: false, json: {}, gateway })).toMatchObject({
			message: expect.stringMatching(/"message":"no".* \(HTTP 400\)/),
			record: { billed: 'no' },
		});
		await server.idle();
	});

	it('ends with an error in the list of models', async () => {
		const { server, gateway } = await start();
		const search = listSearch('n8n-nodes-model-gateway.modelGateway', 'searchModels', {
			credentials: credentialFor(gateway),
			parameters: { resource: 'chat', operation: 'complete' },
		});
		await expect(search).rejects.toThrow(tooMany);
		expect(server.requests).toHaveLength(1);
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
