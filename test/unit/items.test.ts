import { once } from 'node:events';
import { AdaptiveLimit } from '../../nodes/shared/gateway/client/adaptiveLimit';
import { GatewayError } from '../../nodes/shared/gateway/errors/gatewayError';
import type { Reach } from '../../nodes/shared/gateway/errors/verdict';
import { endpoints } from '../../nodes/shared/gateway/protocol/endpoints';
import { recipientOf } from '../../nodes/shared/n8n/agent/recipient';
import { createGateway } from '../../nodes/shared/n8n/client/gateway';
import { badInput } from '../../nodes/shared/n8n/errors/badInput';
import { checkAll } from '../../nodes/shared/n8n/items/check';
import { runItems } from '../../nodes/shared/n8n/items/run';
import { RunState } from '../../nodes/shared/n8n/items/runState';
import { sendAll } from '../../nodes/shared/n8n/items/send';
import { settle } from '../../nodes/shared/n8n/items/settle';
import type { DeliveringWork, DirectWork, ItemRun } from '../../nodes/shared/n8n/items/work';
import { executeContext, type Execution } from '../support/executeContext';

type Work = DeliveringWork<number, { order: number }>;

/** Each item orders its own number. */
const orders: Work = {
	endpoint: endpoints.videoCreate,
	prepare: ({ item }) => item,
	perform: async (order) => ({ order }),
	deliver: async ({ order }) => [{ json: { order } }],
};

const failed = (message: string, reach: Reach = 'answered') =>
	new GatewayError({
		...{ message, remedies: [], reach, status: 0, retry_can_help: false },
		billed: reach === 'lost' ? 'unknown' : 'no',
	});

/** Until what is under way is aborted. */
const aborted = async ({ gateway: { runtime } }: ItemRun) =>
	await new Promise<never>((_, reject) => {
		const { signal } = runtime;
		signal?.addEventListener('abort', () => reject(signal.reason as Error));
	});

const start = async (work: Partial<Work>, execution: Execution) => {
	const context = executeContext(execution);
	const run = new RunState(context, { ...orders, ...work } as DeliveringWork);
	const gateway = await createGateway(context);
	const check = async () => await checkAll(run, gateway);
	const send = async (parallel = 10) =>
		await sendAll(run, await check(), { gateway, limiter: new AdaptiveLimit(parallel) });
	return { run, check, send, context };
};
const messages = ({ failures }: RunState) => failures.map(({ error }) => String(error));

describe('checking all items', () => {
	it('gives those that can be sent, and fails each of the others with all its problems', async () => {
		const { run, check } = await start(
			{
				prepare(parameters) {
					const { item } = parameters;
					if (item === 1) parameters.report('Prompt', 'is empty');
					if (item === 1) parameters.report('Size', 'is too large');
					if (item === 2) throw failed('an expression of item 2');
					return item;
				},
			},
			{ items: 4 },
		);
		expect((await check()).map(({ index, request }) => [index, request])).toEqual([
			[0, 0],
			[3, 3],
		]);
		expect(messages(run)).toEqual([
			'GatewayError: Prompt is empty; Size is too large',
			'GatewayError: an expression of item 2',
		]);
		expect(run.items.map(({ outcome }) => outcome?.length)).toEqual([undefined, 1, 1, undefined]);
	});

	it('looks into files before it counts the problems', async () => {
		const { run, check } = await start(
			{
				prepare(parameters) {
					parameters.checks.push(async () => parameters.report('Image', 'is no picture'));
					return 0;
				},
			},
			{},
		);
		expect(await check()).toEqual([]);
		expect(messages(run)).toEqual(['GatewayError: Image is no picture']);
	});
});

describe('thousands of items', () => {
	afterEach(() => jest.restoreAllMocks());

	it('let the event loop turn while they are checked, so that Stop is heard', async () => {
		let time = 0;
		jest.spyOn(Date, 'now').mockImplementation(() => time);
		const stop = new AbortController();
		let prepared = 0;
		const prepare = () => {
			time += 1;
			if (++prepared === 500) setImmediate(() => stop.abort());
			return prepared;
		};
		const { check } = await start({ prepare }, { items: 20_000, stop: stop.signal });
		expect(await check()).toEqual([]);
		expect(prepared).toBeGreaterThanOrEqual(500);
		expect(prepared).toBeLessThan(1000);
	});

	it('are looked through once when reads of them fail', async () => {
		const count = 2000;
		const prepare = () => {
			throw failed('an expression');
		};
		const { run, check } = await start({ endpoint: endpoints.models, prepare }, { items: count });
		let looks = 0;
		for (const item of run.items) {
			Object.defineProperty(item, 'abortController', { get: () => void looks++ });
		}
		await check();
		expect(looks).toBe(count);
	});

	it('lets go of a request once it has ended', async () => {
		const { run, send } = await start(
			{
				async perform(order) {
					if (order === 2) throw failed('lost', 'lost');
					return { order };
				},
			},
			{ items: 3, continues: true },
		);
		await send();
		const kept = run.items.map((item) => ({ request: undefined, ...item }));
		expect(kept.map(({ request, result }) => [request, result])).toEqual([
			[undefined, { order: 0 }],
			[undefined, { order: 1 }],
			[undefined, undefined],
		]);
	});

	it('share the remarks that are the same for many', async () => {
		const { run, context } = await start({}, { items: 15 });
		const told: string[] = [];
		context.addExecutionHints = (...hints) => told.push(...hints.map(({ message }) => message));
		for (const item of run.items) if (item.index !== 3) run.hint(item, 'cut.');
		run.hint(run.items[3], 'withheld.');
		run.hint(run.items[3], 'withheld.');
		run.showHints();
		expect(told).toEqual([
			'Items 0, 1, 2, 4, 5, 6, 7, 8, 9, 10 and 4 more: cut.',
			'Item 3: withheld.',
		]);
	});
});

describe('sending', () => {
	it('delivers what has a result already, and leaves alone what has an outcome', async () => {
		const sent: number[] = [];
		const perform = async (order: number) => {
			sent.push(order);
			return { order };
		};
		const { run, send } = await start({ perform }, { items: 3 });
		run.items[0].result = { order: 7 };
		run.items[1].outcome = [];
		await send();
		expect(sent).toEqual([2]);
		expect(run.items.map(({ outcome }) => outcome)).toEqual([
			[{ json: { order: 7 } }],
			[],
			[{ json: { order: 2 } }],
		]);
	});

	it.each([
		{ continues: false, sent: [0, 1] },
		{ continues: true, sent: [0, 1, 2] },
	])('goes on after a failure: $continues', async ({ continues, sent: expected }) => {
		const sent: number[] = [];
		const perform = async (order: number) => {
			sent.push(order);
			if (order === 1) throw failed('refused');
			return { order };
		};
		const { send } = await start({ perform }, { items: 3, continues });
		await send(1);
		expect(sent).toEqual(expected);
	});

	it('ends reads that are under way when another item fails, and tells of the first cause alone', async () => {
		const perform = async (order: number, run: ItemRun) => {
			if (order === 1) throw failed('refused');
			return await aborted(run);
		};
		const { run, send } = await start({ endpoint: endpoints.models, perform }, { items: 3 });
		await send();
		expect(messages(run)).toEqual(['GatewayError: refused']);
		expect(run.items.every(({ outcome, abortController }) => outcome && !abortController)).toBe(
			true,
		);
	});

	it('lets what is paid for come to its end when another item fails', async () => {
		let refused = () => {};
		const refusal = new Promise<void>((resolve) => (refused = resolve));
		const perform = async (order: number) => {
			if (order === 0) {
				await refusal;
				return { order };
			}
			refused();
			throw failed('refused');
		};
		const { run, send } = await start({ perform }, { items: 2 });
		await send();
		expect(run.items[0].outcome).toEqual([{ json: { order: 0 } }]);
	});

	it('fails alone what of a shared request, or of several outputs, did not come', async () => {
		const { run, send } = await start(
			{
				batch: {
					key: () => '',
					size: () => 1,
					maxSize: () => 2,
					perform: async (requests) =>
						requests.map((order) => (order === 0 ? failed('refused') : { order })),
				},
				deliver: async ({ order }) => [{ json: { order } }, failed('not delivered')],
			},
			{ items: 2, continues: true },
		);
		await send();
		expect(messages(run)).toEqual(['GatewayError: refused', 'GatewayError: not delivered']);
		expect(run.items.map(({ outcome }) => outcome)).toEqual([
			[{ error: expect.any(GatewayError) as unknown }],
			[{ json: { order: 1 } }, { error: expect.any(GatewayError) as unknown }],
		]);
	});
});

describe('settling', () => {
	const toModel = {
		output: () => ({ json: { told: true } }),
		failure: ({ message }: Error) => ({ json: { told: message } }),
	};
	const toNextNode = recipientOf(executeContext(), () => undefined);

	it('pairs each output, and each failure in the place of one, with its item', async () => {
		const { run } = await start({}, { items: 3, continues: true });
		run.items[0].outcome = [{ json: { page: 1 } }, { json: { page: 2 } }];
		run.fail(run.items[2], failed('refused'));
		const outputs = [
			{ json: { page: 1 }, pairedItem: { item: 0 } },
			{ json: { page: 2 }, pairedItem: { item: 0 } },
			{ json: { error: 'refused' }, pairedItem: { item: 2 } },
		];
		expect(await settle(run, toNextNode)).toMatchObject(outputs);
		// What failed is told to everybody alike.
		const told = { json: { told: true } };
		expect(await settle(run, toModel)).toMatchObject([
			{ ...outputs[0], ...told },
			{ ...outputs[1], ...told },
			outputs[2],
		]);
	});

	it('gives its recipient the failure of the node', async () => {
		const { run } = await start({}, { items: 2 });
		run.items[0].job = { id: 'task_1' };
		run.fail(run.items[1], badInput([{ field: 'Prompt', problem: 'is empty' }]));
		await expect(settle(run, toNextNode)).rejects.toThrow('Item 1: Prompt is empty');
		expect(await settle(run, toModel)).toEqual([
			{ json: { told: 'Item 1: Prompt is empty' }, pairedItem: { item: 1 } },
		]);
	});

	it('fails when it was stopped, whoever its recipient is', async () => {
		const { run } = await start({}, { stop: AbortSignal.abort() });
		run.items[0].outcome = [{ json: {} }];
		await expect(settle(run, toModel)).rejects.toThrow('The execution was canceled');
	});
});

describe('an order whose outcome is unknown after Stop', () => {
	const executed = async (work: Partial<DirectWork<number>>, execution: Execution) => {
		const { endpoint, prepare } = orders;
		const common = { endpoint, prepare, isOrder: true, resendsLost: () => false } as const;
		const perform = async () => [{ json: {} }];
		return await runItems(executeContext(execution), { ...common, perform, ...work }, 10);
	};

	it('is not sent by a later Retry either when the first one was stopped before it sent anything', async () => {
		const execution = { node: 'Stopped twice', items: 2 };
		const stop = new AbortController();
		const lost = async () => {
			stop.abort();
			throw failed('The connection was lost', 'lost');
		};
		await expect(
			executed({ perform: lost }, { ...execution, id: '1', stop: stop.signal }),
		).rejects.toThrow('The connection was lost');

		const again = new AbortController();
		const stopped: DirectWork<number>['prepare'] = ({ item }) => {
			if (item === 1) again.abort();
			return item;
		};
		const retry = { ...execution, mode: 'retry' } as const;
		await expect(
			executed({ prepare: stopped }, { ...retry, id: '2', stop: again.signal }),
		).rejects.toThrow();

		const perform = jest.fn(async () => [{ json: {} }]);
		const last = new AbortController();
		await expect(executed({ perform }, { ...retry, id: '3', stop: last.signal })).rejects.toThrow(
			'Item 0',
		);
		expect(perform).not.toHaveBeenCalled();
	});

	describe('and that has a key', () => {
		const marked = { credential: { idempotencyHeaderName: 'Idempotency-Key' } };
		const retry = { mode: 'retry' } as const;

		/** Stop while the order is under way. */
		const stopped = async (node: string) => {
			const stop = new AbortController();
			let answer = () => {};
			const perform = async () => {
				stop.abort();
				await new Promise<void>((resolve) => (answer = resolve));
				return [{ json: {} }];
			};
			const run = executed({ perform }, { ...marked, node, id: '1', stop: stop.signal });
			if (!stop.signal.aborted) await once(stop.signal, 'abort');
			const end = async () => {
				answer();
				await expect(run).rejects.toThrow('canceled');
			};
			return { end };
		};

		it('is sent again by a Retry, also while its first answer may still come', async () => {
			const first = await stopped('Marked');
			const perform = jest.fn(async () => [{ json: {} }]);
			await executed({ perform }, { ...marked, ...retry, node: 'Marked', id: '2' });
			expect(perform).toHaveBeenCalledTimes(1);
			await first.end();
		});

		it('keeps its unknown outcome when that Retry is stopped before it sends', async () => {
			const first = await stopped('Marked, and stopped twice');
			const again = new AbortController();
			const prepare: DirectWork<number>['prepare'] = ({ item }) => {
				again.abort();
				return item;
			};
			const execution = { ...retry, node: 'Marked, and stopped twice' };
			const stop = { ...execution, ...marked, id: '2', stop: again.signal };
			await expect(executed({ prepare }, stop)).rejects.toThrow('canceled');

			// Nobody would know it without its key.
			const perform = jest.fn(async () => [{ json: {} }]);
			await expect(executed({ perform }, { ...execution, id: '3' })).rejects.toThrow('Item 0');
			expect(perform).not.toHaveBeenCalled();
			await first.end();
		});
	});
});
