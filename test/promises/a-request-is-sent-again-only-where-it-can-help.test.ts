import type { FaultAction } from '../../gateway';
import { answer, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { detailsOf, generations, nodeFor, run } from '../support/nodes';

const { gateway } = withGateway({ isTimeSimulated: true, jobSeconds: Infinity });

const routes = ['chat', 'message', 'embedding', 'imageGenerate', 'imageEdit', 'models'] as const;
/** Each route meets it; by default, once. */
const meet = (fault: FaultAction, times = 1) => {
	for (const route of routes) gateway.fault({ ...fault, route, times });
};
const sent = () => gateway.requests.filter(({ host }) => host === 'api').length;

it.each(generations)('sends a generation again when its response was lost: %s', async (name) => {
	meet({ action: 'reset', accepted: false });
	const result = await run(gateway, nodeFor(name));
	expect(result.status).toBe('success');
	expect(sent()).toBe(2);
});

const long = { 'x-policy': 'a '.repeat(10_000) };

it.each(generations)(
	'sends no second time when a response arrived that nobody can read: %s',
	async (name) => {
		const server = await startServer(answer(200, '{}', long));
		const details = await detailsOf({ ...gateway, url: server.url }, name);
		expect(details).toMatchObject({ billed: 'unknown', retry_can_help: false });
		expect(server.requests).toHaveLength(1);
	},
);

it.each([
	[400, 'upstream_error'],
	[401, 'invalid_api_key'],
	[403, 'permission_denied'],
	[404, 'model_not_found'],
	[429, 'quota_exceeded'],
])('never sends again what the service refused with %d, %s', async (status, code) => {
	meet({ action: 'error', status, code }, Infinity);
	for (const name of generations) {
		const before = sent();
		expect(await detailsOf(gateway, name)).toMatchObject({ status, code, billed: 'no' });
		expect([name, sent() - before]).toEqual([name, 1]);
	}
});

it('waits as long as Retry-After says after a rate limit', async () => {
	const headers = { 'retry-after': '45' };
	meet({ action: 'error', status: 429, code: 'rate_limit_exceeded', headers });
	const result = await run(gateway, nodeFor('chat.complete'));
	expect(result.status).toBe('success');
	const [first, second] = gateway.requests;
	expect(second.at - first.at).toBeGreaterThanOrEqual(45_000);
	expect(sent()).toBe(2);
});

it.each(generations)('waits as long after a rate limit within HTTP 200: %s', async (name) => {
	const body = JSON.stringify({ code: 'Throttling.RateQuota', message: 'Rate limit exceeded' });
	meet({ action: 'answer', body, headers: { 'retry-after': '45' } });
	expect((await run(gateway, nodeFor(name))).status).toBe('success');
	const [first, second] = gateway.requests;
	expect(second.at - first.at).toBeGreaterThanOrEqual(45_000);
	expect(sent()).toBe(2);
});

it('sends again after a passing error of the service, and gives up with an error that says so', async () => {
	meet({ action: 'error', status: 500, code: 'upstream_error' }, 2);
	expect((await run(gateway, nodeFor('chat.complete'))).status).toBe('success');
	expect(sent()).toBe(3);
	meet({ action: 'error', status: 500, code: 'upstream_error' }, Infinity);
	const details = await detailsOf(gateway, 'chat.complete');
	expect(details).toMatchObject({ status: 500, code: 'upstream_error', retry_can_help: true });
	expect(sent()).toBeLessThan(20);
});
