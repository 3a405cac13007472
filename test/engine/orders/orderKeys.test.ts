import { setTimeout } from 'node:timers/promises';
import { processedItems, retryExecution, type RunOptions, type WorkflowRun } from '../../harness';
import {
	charged,
	chargedJobs,
	create,
	jobsOf,
	loseNext,
	refuseNext,
	requested,
	run,
	withOrders,
	world,
	type Fields,
} from '../../support/orders';
import { byId, chain, credentialFor } from '../../support/workflows/workflows';

// Executions that use the same Order Key at the same moment.

const thing = 'a reference video';
const keyed = (options: Fields = {}, more: Fields = {}) =>
	chain(create(thing, { options: { orderKey: '={{ $json.prompt }}', ...options }, ...more }));

// The tests that hold a response back wait in real time.
withOrders({ isTimeSimulated: false, jobSeconds: 60 });

/** The prompts are the keys. */
const order = async (prompts = ['A-1'], options: RunOptions = {}) =>
	await run(keyed(), prompts, options);
const many = async (count: number, prompt = 'A-1') =>
	await Promise.all(Array.from({ length: count }, async () => await order([prompt])));
const refuse = (times: number) =>
	world.gateway.fault({
		route: 'referenceVideoCreate',
		action: 'error',
		status: 429,
		code: 'quota_exceeded',
		times,
	});

/** Starts an execution whose order gets its response only when `end` is called. */
async function underWay() {
	let letRespond = () => {};
	const until = new Promise<void>((resolve) => (letRespond = resolve));
	world.gateway.fault({ route: 'referenceVideoCreate', action: 'stall', until, times: 1 });
	const execution = order();
	while (requested(thing) === 0) await setTimeout(1);
	return {
		end: async () => {
			letRespond();
			return await execution;
		},
	};
}

it.each([
	['in two forms of Unicode', 'Café', 'Cafe\u0301'],
	['with a zero-width space', 'A-1', 'A\u200b-1'],
	['with a byte order mark', 'A-1', '\ufeffA-1'],
	['with a no-break space', 'A 1', 'A\u00a01'],
	['with a line break at its end', 'A-1', 'A-1\n'],
])('places one order for a key typed %s', async (_, one, other) => {
	const typed = keyed({ orderKey: '={{ $json.sku }}' });
	for (const sku of [one, other])
		await run(typed, [], { input: [{ json: { prompt: 'Waves', media: world.media, sku } }] });
	expect(requested(thing)).toBe(1);
});

it('leaves a key to a later item when the limits refuse the order of an earlier one', async () => {
	const settings = { onError: 'continueRegularOutput' } as const;
	const model = byId('={{ $json.prompt }}');
	const prices = JSON.stringify({ dear: { per_video: 0.6 }, cheap: { per_video: 0.4 } });
	const credentials = credentialFor(world.gateway, { advanced: true, prices });
	const limited = keyed({ orderKey: 'A-1', maxCost: 0.5 }, { settings, model });
	const [refused] = (await run(limited, ['dear', 'cheap'], { credentials })).items('Create');
	expect(refused.json.error).toContain('estimated cost of 0.6');
	const creates = world.gateway.requests.filter(({ method }) => method === 'POST');
	expect(creates).toMatchObject([{ body: { model: 'cheap' } }]);
});

it('takes another input of Extra Body for another order', async () => {
	const extraBody = '={{ { input: $json.prompt } }}';
	const workflow = keyed({ orderKey: 'A-1', extraBody }, { model: byId('gamma-3.0-r2v') });
	const body = JSON.stringify({ output: { task_id: 'task-1' } });
	world.gateway.fault({ route: 'referenceVideoCreate', action: 'answer', body });
	expect((await run(workflow, ['Waves'])).status).toBe('success');
	expect((await run(workflow, ['Fog'])).errorOf('Create')?.message).toContain('for another order');
});

it.each(
	['before', 'after'].flatMap((when) => [1, 2, 3, 4, 5, 6].map((call) => [when, call] as const)),
)(
	'keeps an Order Key used when its order is sent again and n8n’s database fails %s its call %d',
	async (when, call) => {
		loseNext(thing);
		const lost = await order();
		expect(charged()).toBe(1);
		let calls = 0;
		const fail = () => {
			if (++calls === call) throw new Error('The database is locked');
		};
		if (when === 'before') processedItems.precede = fail;
		else processedItems.intercept = fail;
		await retryExecution(lost, { workflow: keyed({ ifAnswerLost: 'resend' }) });
		const before = charged();
		await order();
		expect(charged()).toBe(before);
	},
);

it.each([2, 40])(
	'leaves an Order Key unused after %d executions at once were refused with it',
	async (count) => {
		const refusing = refuse(Infinity);
		const refused = await many(count);
		expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['error']));
		refusing.remove();
		expect(jobsOf(await order())).toEqual(chargedJobs());
		expect(charged()).toBe(1);
	},
);

it('leaves an Order Key unused after another worker wrote back what it read before a refusal', async () => {
	refuseNext(thing);
	let { snapshot } = processedItems;
	processedItems.intercept = (call) => {
		if (call === 'record') ({ snapshot } = processedItems);
		else if (processedItems.calls.filter((other) => other === call).length === 1)
			processedItems.writeOver(snapshot);
	};
	expect((await order()).status).toBe('error');
	expect(jobsOf(await order())).toEqual(chargedJobs());
});

it('does not make executions with other Order Keys wait', async () => {
	const first = await underWay();
	const others = await many(2, 'B-1');
	expect(others.flatMap(jobsOf).filter(Boolean)).toEqual(chargedJobs());
	expect(charged()).toBe(1);
	expect(jobsOf(await first.end())).toEqual([chargedJobs()[1]]);
});

it('places one order per Order Key when executions use the same keys in different orders', async () => {
	await Promise.all([order(['A-1', 'B-1']), order(['B-1', 'A-1']), order(['B-1', 'C-1'])]);
	expect(charged()).toBe(3);
});

it('ends on Stop while another execution orders with the same Order Key', async () => {
	const first = await underWay();
	let second: Promise<WorkflowRun> | undefined;
	const stop = await new Promise<() => void>((onStart) => {
		second = order(undefined, { onStart });
	});
	await setTimeout(100);
	stop();
	expect((await second)?.status).toBe('canceled');
	expect(charged()).toBe(0);
	expect(jobsOf(await first.end())).toEqual(chargedJobs());
	expect(requested(thing)).toBe(1);
});
