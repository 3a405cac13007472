import type { NodeApiError } from 'n8n-workflow';
import { GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';
import { endpoints } from '../../../../nodes/shared/service/protocol/endpoints';
import { runItems } from '../../../../nodes/shared/n8n/items/run';
import type { DirectWork, ItemRun } from '../../../../nodes/shared/n8n/items/work';
import { executeContext, type Execution } from '../../../support/workflows/executeContext';

const failed = (message: string, reach: 'answered' | 'lost') =>
	new GatewayError({
		message,
		reach,
		status: 0,
		retry_can_help: false,
		billed: reach === 'lost' ? 'unknown' : 'no',
	});

/** Runs a node whose items order their own numbers. */
const executed = async (work: Partial<DirectWork<number>>, execution: Execution) => {
	const orders = {
		endpoint: endpoints.videoCreate,
		isOrder: true,
		prepare: ({ item }: { item: number }) => item,
		perform: async () => [{ json: {} }],
	};
	return await runItems(executeContext(execution), { ...orders, ...work } as DirectWork, 10);
};

it('a second Retry does not send a lost order when the first Retry was stopped before it sent anything', async () => {
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
		'Item 0: The connection was lost',
	);
	expect(perform).not.toHaveBeenCalled();
});

it('keeps an order whose output cannot be made, so that its Retry does not place it again', async () => {
	const execution = { node: 'Without an output', items: 1 };
	const perform = jest.fn(async (_: number, { reportJob }: ItemRun): Promise<never> => {
		reportJob({ kind: 'video', id: 'job-1' });
		throw new TypeError('no such node');
	});
	const failed = await executed({ perform }, { ...execution, id: '1' }).catch(
		(error: NodeApiError) => error,
	);
	expect(failed).toMatchObject({
		message: 'no such node',
		description: expect.stringContaining('Collect it by its ID job-1') as string,
	});
	await expect(executed({ perform }, { ...execution, id: '2', mode: 'retry' })).rejects.toThrow(
		'no such node',
	);
	expect(perform).toHaveBeenCalledTimes(1);
});

it('aborts reads under way when another item fails, and reports only the first cause', async () => {
	let aborted = 0;
	const perform = async (item: number, { gateway }: ItemRun) => {
		if (item === 1) throw failed('refused', 'answered');
		return await new Promise<never>((_, reject) => {
			gateway.runtime.signal?.addEventListener('abort', () => {
				aborted++;
				reject(new Error('aborted'));
			});
		});
	};
	const { models: endpoint } = endpoints;
	await expect(executed({ endpoint, perform }, { items: 3 })).rejects.toThrow(/^Item 1: refused/);
	expect(aborted).toBe(2);
});

it('lets paid requests finish when another item fails, and sends no more', async () => {
	let refuse = () => {};
	const refusal = new Promise<void>((resolve) => (refuse = resolve));
	const finished: number[] = [];
	const perform = async (item: number) => {
		if (item === 1) {
			refuse();
			throw failed('refused', 'answered');
		}
		await refusal;
		finished.push(item);
		return [{ json: {} }];
	};
	await expect(executed({ perform }, { items: 30 })).rejects.toThrow('Item 1: refused');
	expect(finished).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9]);
});
