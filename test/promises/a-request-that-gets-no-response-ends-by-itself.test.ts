import { silence, stall, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { allOperations, continues, detailsOf, itemsOf, nodeFor, run } from '../support/nodes';

const { gateway } = withGateway({ isTimeSimulated: true, jobSeconds: Infinity });

const minute = 60_000;

it('lets the other items go on when one response never comes', async () => {
	const isStuck = ({ body }: { body?: unknown }) => JSON.stringify(body).includes('stuck');
	gateway.fault({ route: 'chat', action: 'stall', times: Infinity, when: isStuck });
	const input = itemsOf({ text: 'one' }, { text: 'stuck' }, { text: 'three' });
	const node = nodeFor('chat.complete', { options: { timeout: 30 } }, continues);
	const startedAt = Date.now();
	const items = (await run(gateway, node, { input })).items('Node').map(({ json }) => json);
	expect(items).toMatchObject([
		{ text: expect.stringContaining('one') },
		{ error: expect.stringMatching(/time limit/), details: { billed: expect.any(String) } },
		{ text: expect.stringContaining('three') },
	]);
	expect(Date.now() - startedAt).toBeLessThan(10 * minute);
});

it.each(allOperations)('ends a request that nobody responds to: %s', async (name) => {
	const server = await startServer(silence);
	const startedAt = Date.now();
	const details = await detailsOf({ ...gateway, url: server.url }, name, {
		input: itemsOf({ task_id: 'task_1', id: 'video_1' }),
	});
	expect(details.message).toMatch(/time limit/);
	expect(Date.now() - startedAt).toBeLessThan(60 * minute);
	if (/ideo.create$/.test(name)) expect(server.requests).toHaveLength(1);
});

it('ends a response that falls silent in the middle', async () => {
	const server = await startServer(stall('{"object": "list", "data": ['));
	const startedAt = Date.now();
	const details = await detailsOf({ ...gateway, url: server.url }, 'model.getAll');
	expect(details).toMatchObject({ message: expect.stringMatching(/time limit/), billed: 'no' });
	expect(Date.now() - startedAt).toBeLessThan(10 * minute);
});
