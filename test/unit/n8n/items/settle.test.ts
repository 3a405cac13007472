import { recipientOf } from '../../../../nodes/shared/n8n/agent/recipient';
import { badInput } from '../../../../nodes/shared/n8n/errors/badInput';
import { settle } from '../../../../nodes/shared/n8n/items/settle';
import { executeContext } from '../../../support/workflows/executeContext';
import { failed, startRun } from './startRun';

describe('settling a run', () => {
	const toModel = {
		output: () => ({ json: { told: true } }),
		failure: ({ message }: Error) => ({ json: { told: message } }),
	};
	const toNextNode = recipientOf(executeContext(), () => undefined);

	it('pairs each output and each failure with its item', async () => {
		const { run } = await startRun({}, { items: 3, continues: true });
		run.items[0].outcome = [{ json: { page: 1 } }, { json: { page: 2 } }];
		run.fail(run.items[2], failed('refused'));
		const outputs = [
			{ json: { page: 1 }, pairedItem: { item: 0 } },
			{ json: { page: 2 }, pairedItem: { item: 0 } },
			{ json: { error: 'refused' }, pairedItem: { item: 2 } },
		];
		expect(await settle(run, toNextNode)).toMatchObject(outputs);
		// A failed item looks the same for every recipient.
		const told = { json: { told: true } };
		expect(await settle(run, toModel)).toMatchObject([
			{ ...outputs[0], ...told },
			{ ...outputs[1], ...told },
			outputs[2],
		]);
	});

	it('throws the failure of the node, or returns it when the recipient is a model', async () => {
		const { run } = await startRun({}, { items: 2 });
		run.items[0].job = { id: 'task_1' };
		run.fail(run.items[1], badInput([{ field: 'Prompt', problem: 'is empty' }]));
		await expect(settle(run, toNextNode)).rejects.toThrow('Item 1: Prompt is empty');
		expect(await settle(run, toModel)).toEqual([
			{ json: { told: 'Item 1: Prompt is empty' }, pairedItem: { item: 1 } },
		]);
	});

	it('throws after Stop, even when the recipient is a model', async () => {
		const { run } = await startRun({}, { stop: AbortSignal.abort() });
		run.items[0].outcome = [{ json: {} }];
		await expect(settle(run, toModel)).rejects.toThrow('The execution was canceled');
	});
});
