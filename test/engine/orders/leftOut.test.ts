import type { IDataObject, INode } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { resumeToEnd, runWorkflow, type WorkflowJson } from '../../harness';
import {
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	waitForVideo,
	inGroups,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';
import { usedBefore } from '../../support/workflows/videoOrders';

// Items that place no order although nothing failed. n8n's loop ends at a batch without output.

let gateway: Gateway;
let media: IDataObject[];

withGateway(
	{ isTimeSimulated: true, jobSeconds: 0, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway, media } = world),
);

const create = (options: IDataObject = {}) =>
	createReferenceVideo({
		options: inGroups({ duration: 2, orderKey: '={{ $json.prompt }}', ...options }),
	});
const wait = (parameters: INode['parameters'] = {}) =>
	waitForVideo({ whileWaiting: 'hold', download: false, ...parameters });
async function run(workflow: WorkflowJson, items: Array<string | IDataObject>) {
	const rows = items.map((item) => (typeof item === 'string' ? { prompt: item } : item));
	const first = await runWorkflow(workflow, {
		...{ credentials: credentialFor(gateway), mode: 'trigger' },
		input: rows.map((row) => ({ json: { media, ...row } })),
	});
	const result = await resumeToEnd(first);
	expect(result.status).toBe('success');
	return result;
}

const used = (key: string) => ({
	ordered: false,
	order_key: key,
	reason: expect.stringMatching(usedBefore(key)),
});

describe('items that place no order', () => {
	it('does not wait for the ID in the input fields of an item without an order', async () => {
		await run(chain(create()), ['Waves']);
		const workflow = chain(create({ includeInputFields: true }), wait());
		const [{ json }] = (await run(workflow, [{ id: 42, prompt: 'Waves' }])).items('Wait for Video');
		expect(json).toMatchObject({ id: 42, ...used('Waves') });
	});

	it('collects the video of an item without an order by the ID that the user kept', async () => {
		const [first] = (await run(chain(create()), ['Waves'])).items('Create');
		const { task_id: kept } = first.json.output as IDataObject;
		const workflow = chain(create(), wait({ jobId: kept as string }));
		const [{ json }] = (await run(workflow, ['Waves'])).items('Wait for Video');
		expect(json).toMatchObject({ status: 'completed', job_id: kept });
	});
});

it('Get Many returns an output when no model matches, so that a loop continues', async () => {
	const list = { resource: 'model', operation: 'getAll', returnAll: true, filter: 'no such' };
	const items = (await run(chain(modelGateway(list)), ['Waves'])).items('Model Gateway');
	const none = { count: 0, reason: 'No model has “no such” in its ID. Try a shorter filter' };
	expect(items.map(({ json }) => json)).toEqual([none]);
});
