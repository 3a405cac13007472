import type { IDataObject } from 'n8n-workflow';
import { setTimeout } from 'node:timers/promises';
import { processedItems, retryExecution, type RunOptions, type WorkflowRun } from '../../harness';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
} from '../../support/workflows/workflows';
import { createsOf } from '../../support/workflows/videoOrders';
import { withGateway } from '../../support/http/withGateway';

// Executions that use the same Order Key at the same moment.

const { gateway, media, runWorkflow } = withGateway({
	jobSeconds: 60,
	render: async () => new Uint8Array(0),
});

const workflow = chain(
	createReferenceVideo({ options: { duration: 2, once: { orderKey: '={{ $json.sku }}' } } }),
);

const order = async (sku = 'A-1', options: RunOptions = {}): Promise<WorkflowRun> =>
	await runWorkflow(workflow, {
		mode: 'trigger',
		input: [{ json: { prompt: 'Waves', media, sku } }],
		...options,
	});

const many = async (count: number, start = async () => await order()) =>
	await Promise.all(Array.from({ length: count }, start));

const emptyAccount = (times = Infinity) =>
	gateway.fault({
		route: 'referenceVideoCreate',
		action: 'error',
		status: 429,
		code: 'quota_exceeded',
		times,
	});

const creates = () => createsOf(gateway);

const jobOf = (run: WorkflowRun) =>
	run.status === 'success'
		? (run.items('Create')[0]?.json.output as IDataObject | undefined)?.task_id
		: undefined;

/** Starts an execution whose order gets its response only when `end` is called. */
async function underWay(execute: () => Promise<WorkflowRun>) {
	let letRespond = () => {};
	const until = new Promise<void>((resolve) => (letRespond = resolve));
	gateway.fault({ route: 'referenceVideoCreate', action: 'stall', until, times: 1 });
	const run = execute();
	while (creates().length === 0) await setTimeout(1);
	const end = async () => {
		letRespond();
		return await run;
	};
	return { end };
}

it.each([
	['in two forms of Unicode', 'Café', 'Cafe\u0301'],
	['with a zero-width space', 'A-1', 'A\u200b-1'],
	['with a byte order mark', 'A-1', '\ufeffA-1'],
	['with a no-break space', 'A 1', 'A\u00a01'],
	['with a line break at its end', 'A-1', 'A-1\n'],
])('places one order for a key typed %s', async (_, one, other) => {
	for (const sku of [one, other]) await order(sku);
	expect(creates()).toHaveLength(1);
});

it('leaves a key to a later item when the limits refuse the order of an earlier one', async () => {
	const options = { duration: 2, once: { orderKey: 'A-1' }, limits: { maxCost: 0.5 } };
	const model = { __rl: true, mode: 'id', value: '={{ $json.model }}' };
	const create = createReferenceVideo({ options, model }, { onError: 'continueRegularOutput' });
	const prices = { dear: { per_video: 0.6 }, cheap: { per_video: 0.4 } };
	const run = await runWorkflow(chain(create), {
		credentials: credentialFor(gateway, { advanced: true, prices: JSON.stringify(prices) }),
		input: Object.keys(prices).map((model) => ({ json: { media, model } })),
		mode: 'trigger',
	});
	expect(run.items('Create')[0].json.error).toContain('estimated cost of 0.6');
	expect(createsOf(gateway)).toMatchObject([{ body: { model: 'cheap' } }]);
});

it('takes another input of Extra Body for another order', async () => {
	const extraBody = '={{ { input: $json.prompt } }}';
	const options = { extraBody, once: { orderKey: 'A-1' } };
	const create = createReferenceVideo({ model: byId('gamma-3.0-r2v'), options });
	const body = JSON.stringify({ output: { task_id: 'task-1' } });
	gateway.fault({ route: 'referenceVideoCreate', action: 'answer', status: 200, body });
	const orderOf = async (prompt: string) =>
		await runWorkflow(chain(create), { mode: 'trigger', input: [{ json: { prompt, media } }] });
	expect((await orderOf('Waves')).status).toBe('success');
	expect((await orderOf('Fog')).errorOf('Create')?.message).toContain('for another order');
});

it.each(
	['before', 'after'].flatMap((when) => [1, 2, 3, 4, 5, 6].map((call) => [when, call] as const)),
)(
	'keeps an Order Key used when its order is sent again and n8n’s database fails %s its call %d',
	async (when, call) => {
		gateway.fault({ route: 'referenceVideoCreate', action: 'reset', accepted: true });
		const lost = await order();
		expect(gateway.ledger).toHaveLength(1);
		let calls = 0;
		const fail = () => {
			if (++calls === call) throw new Error('The database is locked');
		};
		if (when === 'before') processedItems.precede = fail;
		else processedItems.intercept = fail;
		const resending = structuredClone(workflow);
		Object.assign(resending.nodes.at(-1)!.parameters!.options as object, {
			ifAnswerLost: 'resend',
		});
		await retryExecution(lost, { workflow: resending });
		const { length } = gateway.ledger;
		await order();
		expect(gateway.ledger).toHaveLength(length);
	},
);

it.each([2, 40])(
	'leaves an Order Key unused after %d executions at once were refused with it',
	async (count) => {
		const empty = emptyAccount();
		const refused = await many(count);
		expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['error']));
		empty.remove();
		expect(jobOf(await order())).toBe(gateway.ledger[0].job);
		expect(gateway.ledger).toHaveLength(1);
	},
);

it('leaves an Order Key unused after another worker wrote back what it read before a refusal', async () => {
	emptyAccount(1);
	let { snapshot } = processedItems;
	processedItems.intercept = (call) => {
		if (call === 'record') ({ snapshot } = processedItems);
		else if (processedItems.calls.filter((other) => other === call).length === 1)
			processedItems.writeOver(snapshot);
	};
	expect((await order()).status).toBe('error');
	expect(jobOf(await order())).toBe(gateway.ledger[0].job);
});

it('does not make executions with other Order Keys wait', async () => {
	const first = await underWay(async () => await order('A-1'));
	const others = await many(2, async () => await order('B-1'));
	expect(others.map(jobOf).filter(Boolean)).toHaveLength(1);
	expect(gateway.ledger).toHaveLength(1);
	expect(jobOf(await first.end())).toBe(gateway.ledger[1].job);
});

it('places one order per Order Key when executions use the same keys in different orders', async () => {
	const both = async (...skus: string[]) =>
		await order(undefined, {
			input: skus.map((sku) => ({ json: { prompt: 'Waves', media, sku } })),
		});
	await Promise.all([both('A-1', 'B-1'), both('B-1', 'A-1'), both('B-1', 'C-1')]);
	expect(gateway.ledger).toHaveLength(3);
});

it('ends on Stop while another execution orders with the same Order Key', async () => {
	const first = await underWay(order);
	let second: Promise<WorkflowRun> | undefined;
	const stop = await new Promise<() => void>((onStart) => {
		second = order(undefined, { onStart });
	});
	await setTimeout(100);
	stop();
	expect((await second)?.status).toBe('canceled');
	expect(gateway.ledger).toHaveLength(0);
	expect(jobOf(await first.end())).toBe(gateway.ledger[0].job);
	expect(creates()).toHaveLength(1);
});
