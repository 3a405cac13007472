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
});
