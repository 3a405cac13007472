import { once } from 'node:events';
import { runItems } from '../../../../nodes/shared/n8n/items/run';
import type { DirectWork } from '../../../../nodes/shared/n8n/items/work';
import { executeContext, type Execution } from '../../../support/workflows/executeContext';
import { failed, orders } from './startRun';

describe('an order whose outcome is unknown after Stop', () => {
	const executed = async (work: Partial<DirectWork<number>>, execution: Execution) => {
		const { endpoint, prepare } = orders;
		const common = { endpoint, prepare, isOrder: true, resendsLost: () => false } as const;
		const perform = async () => [{ json: {} }];
		return await runItems(executeContext(execution), { ...common, perform, ...work }, 10);
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

	describe('an order with an idempotency key', () => {
		const keyed = { credential: { idempotencyHeaderName: 'Idempotency-Key' } };
		const retry = { mode: 'retry' } as const;

		/** Presses Stop while the order is under way. */
		const stopped = async (node: string) => {
			const stop = new AbortController();
			let respond = () => {};
			const perform = async () => {
				stop.abort();
				await new Promise<void>((resolve) => (respond = resolve));
				return [{ json: {} }];
			};
			const run = executed({ perform }, { ...keyed, node, id: '1', stop: stop.signal });
			if (!stop.signal.aborted) await once(stop.signal, 'abort');
			const end = async () => {
				respond();
				await expect(run).rejects.toThrow('canceled');
			};
			return { end };
		};

		it('a Retry sends an order with a key again, even while its first response may still arrive', async () => {
			const first = await stopped('Marked');
			const perform = jest.fn(async () => [{ json: {} }]);
			await executed({ perform }, { ...keyed, ...retry, node: 'Marked', id: '2' });
			expect(perform).toHaveBeenCalledTimes(1);
			await first.end();
		});

		it('an order with a key keeps its unknown outcome when its Retry is stopped before it sends', async () => {
			const first = await stopped('Marked, and stopped twice');
			const again = new AbortController();
			const prepare: DirectWork<number>['prepare'] = ({ item }) => {
				again.abort();
				return item;
			};
			const execution = { ...retry, node: 'Marked, and stopped twice' };
			const stop = { ...execution, ...keyed, id: '2', stop: again.signal };
			await expect(executed({ prepare }, stop)).rejects.toThrow('canceled');

			// Without the key, the gateway would not recognise the order.
			const perform = jest.fn(async () => [{ json: {} }]);
			await expect(executed({ perform }, { ...execution, id: '3' })).rejects.toThrow(
				'This order was sent before',
			);
			expect(perform).not.toHaveBeenCalled();
			await first.end();
		});
	});
});
