import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { chain, createVideo, credentialFor } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

let gateway: Gateway;
withGateway({ jobSeconds: Infinity }, (world) => void ({ gateway } = world));

const ordered = async (input: IDataObject) => {
	const create = createVideo({ options: { includeInputFields: true } });
	const result = await runWorkflow(chain(create), {
		credentials: credentialFor(gateway),
		input: [{ json: input }],
	});
	return result.items('Create')[0].json;
};

it('drops the job of an earlier order from the input fields, and no other output', async () => {
	const json = await ordered({
		...{ id: 'product-7', task_id: 'task_old', output: { task_id: 'task_old' } },
	});
	expect(json).not.toHaveProperty('task_id');
	expect(json).not.toHaveProperty('output');
	expect(json.id).not.toBe('product-7');
	expect(await ordered({ output: 'An answer' })).toMatchObject({ output: 'An answer' });
});
