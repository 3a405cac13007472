import { chain, credentialFor } from '../support/workflows/workflows';
import { create, loseNext, refuseNext, run, withOrders, world } from '../support/orders';

withOrders();

const secrets = /sk-|otter|https?:/;

it('gives each of 50 orders a span with its job, model, estimated cost and outcome, and no secret', async () => {
	const priced = {
		advanced: true,
		prices: JSON.stringify({ 'beta-2.7-r2v': { per_second: 0.1 } }),
	};
	const spans = [];
	for (let order = 0; order < 50; order++) {
		if (order === 20) refuseNext('a reference video');
		if (order === 30) loseNext('a reference video');
		const execution = await run(chain(create('a reference video')), [`A secret otter ${order}`], {
			credentials: credentialFor(world.gateway, priced),
		});
		const [task] = execution.data.resultData.runData.Create;
		spans.push(task.metadata?.tracing);
	}
	const jobs = world.gateway.jobs.list().map(({ id }) => id);
	const lost = jobs.splice(29, 1);
	expect(lost).toHaveLength(1);
	const order = { model: 'beta-2.7-r2v' };
	expect(spans[20]).toEqual({ ...order, outcome: 'failed' });
	expect(spans[30]).toEqual({ ...order, estimated_cost: 0.2, outcome: 'failed' });
	const made = spans.filter((_, at) => at !== 20 && at !== 30);
	expect(made).toEqual(
		jobs.map((job_id) => ({ ...order, job_id, estimated_cost: 0.2, outcome: 'succeeded' })),
	);
	expect(JSON.stringify(spans)).not.toMatch(secrets);
});
