import { endpoints } from '../../../../nodes/shared/gateway/protocol/endpoints';
import type { ItemRun } from '../../../../nodes/shared/n8n/items/work';
import { failed, messages, startRun } from './startRun';

/** Waits until the run aborts what is under way. */
const aborted = async ({ gateway: { runtime } }: ItemRun) =>
	await new Promise<never>((_, reject) => {
		const { signal } = runtime;
		signal?.addEventListener('abort', () => reject(signal.reason as Error));
	});

describe('sending items', () => {
	it('aborts reads under way when another item fails, and reports only the first cause', async () => {
		const perform = async (order: number, run: ItemRun) => {
			if (order === 1) throw failed('refused');
			return await aborted(run);
		};
		const { run, send } = await startRun({ endpoint: endpoints.models, perform }, { items: 3 });
		expect(await send()).toHaveLength(3);
		expect(messages(run)).toEqual(['GatewayError: refused']);
		expect(run.inFlight.size).toBe(0);
	});

	it('lets a paid request finish when another item fails', async () => {
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
		const { send } = await startRun({ perform }, { items: 2 });
		const [outcome] = await send();
		expect(outcome).toEqual([{ json: { order: 0 } }]);
	});
});
