import {
	EngineProcess,
	processedItems,
	recoverExecution,
	repeatExecution,
	resumeExecution,
	retryExecution,
} from '../harness';
import { storedBy } from '../support/workflows/interruptions';
import { chain, waitForVideo } from '../support/workflows/workflows';
import {
	charged,
	create,
	killedWhileOrdering,
	orderedPrompts,
	requested,
	run,
	videos,
	withOrders,
	world,
} from '../support/orders';

withOrders();

it.each(videos)(
	'orders nothing in a Retry after a kill during the order, and names what was ordered: %s',
	async (thing) => {
		const killed = await killedWhileOrdering(thing, chain(create(thing)));
		const retried = await retryExecution(killed);
		const error = retried.errorOf('Create');
		expect(error?.message).toMatch(/sent before, by the execution that began on .*“Waves”/);
		expect(error?.context.data).toMatchObject({ billed: 'unknown' });
		await retryExecution(retried);
		expect([requested(thing), charged()]).toEqual([1, 1]);
	},
);

it.each(['behind', 'before'])(
	'orders nothing in a Retry of what n8n recovers of a crash, with Create %s its trigger in the file',
	async (place) => {
		const workflow = chain(create('a video'));
		if (place === 'before') workflow.nodes.reverse();
		const killed = await killedWhileOrdering('a video', workflow);
		const recovered = recoverExecution(killed, { ended: ['Start'], begun: 'Create' });
		expect((await retryExecution(recovered)).status).toBe('error');
		expect(charged()).toBe(1);
	},
);

it.each(videos)(
	'orders nothing when n8n’s queue gives the execution of a killed worker to another one: %s',
	async (thing) => {
		const killed = await killedWhileOrdering(thing, chain(create(thing)));
		const repeated = await repeatExecution(killed);
		expect(repeated.errorOf('Create')?.message).toMatch(/sent before, by the execution that began/);
		expect([requested(thing), charged()]).toEqual([1, 1]);
	},
);

it('orders in a Retry, once, what was not sent yet when n8n was killed', async () => {
	const n8n = new EngineProcess();
	processedItems.precede = () => n8n.kill();
	const killed = await storedBy(
		n8n,
		async (onStart) => await run(chain(create('a video')), ['Waves', 'Fog'], { onStart }),
	);
	processedItems.precede = () => {};
	expect(charged()).toBe(0);
	expect((await retryExecution(killed)).status).toBe('success');
	expect(orderedPrompts()).toEqual(['Fog', 'Waves']);
});

it('counts what was ordered before the kill towards Max Orders, also in a Retry of a changed workflow', async () => {
	const ofLength = (duration: number) =>
		chain(create('a reference video', { options: { maxOrders: 1, duration } }));
	const killed = await killedWhileOrdering('a reference video', ofLength(2));
	const retried = await retryExecution(killed, { workflow: ofLength(3) });
	expect(retried.errorOf('Create')?.message).toContain('limit of 1 order per execution');
	expect(charged()).toBe(1);
});

it('continues a parked wait after a kill during its poll, and delivers each video without a new order', async () => {
	const n8n = new EngineProcess();
	const workflow = chain(create('a video'), waitForVideo());
	const parked = await run(workflow, ['Fog', 'Waves']);
	expect(parked.status).toBe('waiting');
	world.gateway.fault({ route: 'video', action: 'stall', when: () => (n8n.kill(), true) });
	expect(await n8n.run(async () => await resumeExecution(parked))).toBe('killed');
	const ended = { ended: ['Start', 'Create'], begun: 'Wait for Video' };
	const retried = await retryExecution(recoverExecution(parked, ended));
	const jobs = retried.items('Wait for Video').map(({ json }) => json.job_id);
	expect(jobs).toEqual(retried.items('Create').map(({ json }) => json.id));
	expect(charged()).toBe(2);
});
