import type { INode } from 'n8n-workflow';
import { badInput } from '../../../../nodes/shared/n8n/errors/badInput';
import { recordOf } from '../../../../nodes/shared/n8n/errors/errorRecord';
import { errorItem, nodeError } from '../../../../nodes/shared/n8n/errors/nodeError';

describe('the output of an item that failed', () => {
	const error = badInput([{ field: 'Prompt', problem: 'is empty' }]);
	const node = (onError: INode['onError']) =>
		({ name: 'Create', type: 'modelGateway', onError }) as INode;
	const json = { error: 'Prompt is empty', details: recordOf(error) };

	it('the output of a failed item names its job even when the error is n8n’s own', () => {
		const job = { kind: 'task', id: 'task_1' } as const;
		const ofExpression = new Error('Invalid syntax');
		const item = errorItem(ofExpression, { index: 2, job }, node('continueRegularOutput'));
		expect(item.json).toMatchObject({ error: 'Invalid syntax', details: { job } });
	});

	it('the error of a node names its item once: n8n’s editor adds an item index to the message', () => {
		const { message, context } = nodeError(node(undefined), { error, item: 0, itemCount: 2 });
		expect([message, context.itemIndex]).toEqual(['Item 0: Prompt is empty', undefined]);
	});

	it('a failed item goes to the error output in every version of n8n, and keeps its record there', () => {
		const item = errorItem(error, { index: 2 }, node('continueErrorOutput'));
		// Older versions of n8n look for this, and copy the item.
		expect(item.error).toEqual({ message: 'Prompt is empty' });
		expect({ ...item }).toEqual({ json, pairedItem: { item: 2 } });
		expect({ ...item }).not.toHaveProperty('error');
		expect(JSON.parse(JSON.stringify(item))).toEqual({ json, pairedItem: { item: 2 } });
	});
});
