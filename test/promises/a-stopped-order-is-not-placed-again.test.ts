import { once } from 'node:events';
import { retryExecution } from '../harness';
import { chain } from '../support/workflows/workflows';
import {
	chargedJobs,
	create,
	isFor,
	jobsOf,
	pass,
	requested,
	routeOf,
	run,
	videos,
	withOrders,
	world,
} from '../support/orders';
import { stopAt, timeLimited } from '../support/waits';

withOrders();

it.each(videos)(
	'names after Stop what was ordered and what may have been, and orders neither in a Retry: %s',
	async (thing) => {
		let stop = () => {};
		const when = isFor('Fog');
		const options = { options: { parallelRequests: 1 } };
		world.gateway.fault({
			route: routeOf(thing),
			action: 'stall',
			accepted: true,
			when: (request) => when(request) && (stop(), true),
		});
		const onStart = (press: () => void) => void (stop = press);
		const stopped = await run(chain(create(thing, options)), ['Waves', 'Fog'], { onStart });
		const error = stopped.errorOf('Create');
		expect(stopped.status).toBe('canceled');
		expect(error?.description).toContain('may have been accepted');
		expect(error?.description).toContain(chargedJobs()[0]);
		expect((await retryExecution(stopped)).status).toBe('error');
		expect(requested(thing)).toBe(2);
	},
);

it('keeps the job of an order whose response arrives within five seconds of Stop', async () => {
	const ordered = once(world.gateway, 'job');
	const until = ordered.then(async () => await pass(3));
	world.gateway.fault({ route: 'videoCreate', action: 'stall', accepted: true, until });
	const { onStart } = stopAt(async () => await ordered);
	const stopped = await run(chain(create('a video')), ['Waves'], { onStart });
	expect(stopped.status).toBe('canceled');
	expect(jobsOf(await retryExecution(stopped))).toEqual(chargedJobs());
	expect(requested('a video')).toBe(1);
});

it('places no order again in the Retry after Timeout Workflow ended the execution', async () => {
	world.gateway.fault({ route: 'videoCreate', action: 'stall', accepted: true });
	const workflow = chain(create('a video'));
	const ordered = await run(timeLimited(workflow, 2), ['Waves'], { mode: 'manual' });
	expect(ordered.errorOf('Create')?.description).toContain('may have been accepted');
	expect((await retryExecution(ordered, { workflow })).status).toBe('error');
	expect(requested('a video')).toBe(1);
});
