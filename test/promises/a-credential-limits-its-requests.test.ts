import { chain, credentialFor } from '../support/workflows/workflows';
import { charged, create, run, withOrders, world, type Fields } from '../support/orders';

const prompts = Array.from({ length: 8 }, (_, index) => `Boat ${index}`);
const limited = (limits: Fields) => ({
	credentials: credentialFor(world.gateway, { advanced: true, ...limits }),
});

withOrders();

it('sends no more requests in any second than the credential allows, in all executions together', async () => {
	const credential = limited({ requestsPerSecond: 2 });
	const executions = [prompts.slice(0, 4), prompts.slice(4)].map(
		async (some) => await run(chain(create('a video')), some, credential),
	);
	await Promise.all(executions);
	expect(charged()).toBe(8);
	const times = world.gateway.requests.map(({ at }) => at).sort((one, other) => one - other);
	const pairs = times.slice(2).map((at, index) => at - times[index]);
	expect(Math.min(...pairs)).toBeGreaterThanOrEqual(1000);
});

it('lets no more requests be in flight than the credential allows', async () => {
	let underWay = 0;
	let most = 0;
	world.gateway.fault({
		route: 'videoCreate',
		action: 'stall',
		seconds: 0.02,
		times: Infinity,
		when: () => ((most = Math.max(most, ++underWay)), true),
	});
	world.gateway.on('request', () => void underWay--);
	await run(chain(create('a video')), prompts, limited({ requestsInFlight: 2 }));
	expect([charged(), most]).toEqual([8, 2]);
});
