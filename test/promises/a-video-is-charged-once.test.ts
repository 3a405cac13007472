import { EngineProcess, retryExecution, type WorkflowRun } from '../harness';
import { chain, modelGateway, waitForVideo } from '../support/workflows/workflows';
import {
	charged,
	chargedJobs,
	create,
	jobsOf,
	killedWhileOrdering,
	loseNext,
	orderedPrompts,
	refuseNext,
	requested,
	routeOf,
	run,
	videos,
	withOrders,
	world,
} from '../support/orders';

const prompts = ['Clouds', 'Fog', 'Rain', 'Waves'];
const tryAgain = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };

withOrders();

it.each(videos)('charges each item once when Retry On Fail repeats the node: %s', async (thing) => {
	refuseNext(thing, 'Rain');
	const execution = await run(chain(create(thing, { settings: tryAgain })), prompts);
	const orders = jobsOf(execution).map((id) => world.gateway.jobs.get(String(id))?.order.prompt);
	expect(orders).toEqual(prompts);
	expect(charged()).toBe(4);
});

it('charges each item once in all Retries of an execution', async () => {
	refuseNext('a reference video', 'Rain');
	const failed = await run(chain(create('a reference video')), prompts);
	expect([failed.status, charged()]).toEqual(['error', 3]);
	for (let click = 0; click < 2; click++) {
		expect(jobsOf(await retryExecution(failed)).sort()).toEqual(chargedJobs().sort());
	}
	expect(orderedPrompts()).toEqual(prompts);
});

it.each(videos)(
	'orders nothing again when a response was lost, in no further try and in no Retry: %s',
	async (thing) => {
		loseNext(thing);
		const workflow = chain(create(thing, { settings: tryAgain }));
		const failed = await run(workflow);
		expect(failed.errorOf('Create')?.context.data).toMatchObject({ billed: 'unknown' });
		expect((await retryExecution(failed)).status).toBe('error');
		expect(requested(thing)).toBe(1);
	},
);

it.each(videos)(
	'sends an order again after a lost response when the user chose Send Again: %s',
	async (thing) => {
		loseNext(thing);
		const sends = chain(create(thing, { options: { ifAnswerLost: 'resend' } }));
		expect(jobsOf(await run(sends))).toEqual([chargedJobs()[1]]);
		expect(requested(thing)).toBe(2);
	},
);

it.each(videos.flatMap((thing) => [[thing, 'was lost'] as const, [thing, 'a kill met'] as const]))(
	'sends again only once what another worker has sent again, and got: %s whose response %s',
	async (thing, before) => {
		const inWorker = true;
		const another = async (work: () => Promise<WorkflowRun>) =>
			(await new EngineProcess().run(work)) as WorkflowRun;
		const first = chain(create(thing));
		if (before === 'was lost') loseNext(thing);
		const failed =
			before === 'was lost'
				? await another(async () => await run(first, ['Waves'], { inWorker }))
				: await killedWhileOrdering(thing, first);
		const workflow = chain(create(thing, { options: { ifAnswerLost: 'resend' } }));
		const retried = async () =>
			await another(async () => await retryExecution(failed, { workflow, inWorker }));
		expect((await retried()).status).toBe('success');
		expect((await retried()).errorOf('Create')?.message).toContain('was sent before');
		expect(requested(thing)).toBe(2);
	},
);

it('sends again in a Retry what the service refused when another Retry sent it again', async () => {
	const killed = await killedWhileOrdering('a video', chain(create('a video')));
	const workflow = chain(create('a video', { options: { ifAnswerLost: 'resend' } }));
	const retried = async () =>
		await new EngineProcess().run(async () => await retryExecution(killed, { workflow }));
	refuseNext('a video');
	expect((await retried()) as WorkflowRun).toMatchObject({ status: 'error' });
	expect((await retried()) as WorkflowRun).toMatchObject({ status: 'success' });
	expect(requested('a video')).toBe(3);
});

it('sends again by itself what was certainly not accepted', async () => {
	const refusal = { route: routeOf('a video'), action: 'error' } as const;
	world.gateway.fault({ ...refusal, status: 429, code: 'rate_limited' });
	world.gateway.fault({ ...refusal, status: 500, code: 'upstream_error' });
	expect(jobsOf(await run(chain(create('a video'))))).toEqual(chargedJobs());
	expect([requested('a video'), charged()]).toEqual([3, 1]);
});

it('charges nothing for Wait for Video, Get Status and Get Content, however often they run', async () => {
	const wait = waitForVideo({ whileWaiting: 'hold' });
	const get = modelGateway({ resource: 'video', operation: 'get', videoId: '={{ $json.id }}' });
	const content = { ...get, name: 'Content' };
	content.parameters = { ...get.parameters, operation: 'getContent' };
	const again = { ...wait, name: 'Again' };
	const saved = { settings: { saveExecutionProgress: true } };
	const workflow = { ...chain(create('a video'), wait, get, content, again), ...saved };
	expect((await run(workflow)).status).toBe('success');
	expect(charged()).toBe(1);
});
