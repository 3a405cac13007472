import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { subjects, tryNode } from '../../support/workflows/everyNode';
import { chain, createVideo, credentialFor, waitForVideo } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

/** `wait.test.ts` tests this option of Wait for Video. */
describe('Include Input Fields', () => {
	let gateway: Gateway;
	withGateway(
		{ render: async () => mp4Of(1000), jobSeconds: 0 },
		(world) => void ({ gateway } = world),
	);

	const options = { includeInputFields: true };
	const create = (more: IDataObject = {}) =>
		createVideo({ prompt: '={{ $json.prompt }}', options, ...more });
	const inputOf = (json: IDataObject): INodeExecutionData[] => [
		{ json: { name: 'Red mug', prompt: 'A boat', ...json } },
	];

	it('passes a product name through Create and Wait for Video to the file name', async () => {
		const wait = waitForVideo({ options: { ...options, fileName: '={{ $json.name }}' } });
		const result = await runWorkflow(chain(create(), wait), {
			credentials: credentialFor(gateway),
			input: inputOf({}),
		});
		const [{ json, binary }] = result.items('Wait for Video');
		expect(json).toMatchObject({ name: 'Red mug', prompt: 'A boat', status: 'completed' });
		expect(binary?.data.fileName).toBe('Red mug.mp4');
	});

	it('drops the job of an earlier order from the input fields', async () => {
		const earlier = { id: 'product-7', task_id: 'task_old', output: { task_id: 'task_old' } };
		const result = await runWorkflow(chain(create()), {
			credentials: credentialFor(gateway),
			input: inputOf(earlier),
		});
		const [{ json }] = result.items('Create');
		expect(json).not.toHaveProperty('task_id');
		expect(json).not.toHaveProperty('output');
		expect(json.id).not.toBe('product-7');
		const own = await runWorkflow(chain(create()), {
			credentials: credentialFor(gateway),
			input: inputOf({ output: 'An answer' }),
		});
		expect(own.items('Create')[0].json.output).toBe('An answer');
	});

	it('gives other names to fields that say what happened to the item of an earlier node', async () => {
		const skipped = {
			ordered: false,
			preview: true,
			would: 'skip',
			reason: 'used',
			order_key: 'a',
		};
		const result = await runWorkflow(chain(create(), waitForVideo({ options })), {
			credentials: credentialFor(gateway),
			input: inputOf({ ...skipped, error: 'The image failed' }),
		});
		const [{ json, binary }] = result.items('Wait for Video');
		expect(json).toMatchObject({
			status: 'completed',
			...{ input_ordered: false, input_preview: true, input_would: 'skip' },
			...{ input_reason: 'used', input_order_key: 'a', input_error: 'The image failed' },
		});
		for (const name of [...Object.keys(skipped), 'error']) expect(json).not.toHaveProperty(name);
		expect(binary).toHaveProperty('data');
	});

	it.each(subjects.filter(([, { type }]) => type === 'modelGateway'))(
		'adds the input fields and files to the output of %s',
		async (_, subject) => {
			const outputOf = async (isIncluded: boolean) => {
				const id = earlierJob(gateway, 'video', mp4Of(1000)).id;
				const task_id = earlierJob(gateway, 'task', mp4Of(1000)).id;
				const json = { name: 'Red mug', id, task_id };
				const own = subject.parameters.options as INodeParameters | undefined;
				const options = { ...own, ...(isIncluded && { includeInputFields: true }) };
				const parameters = { ...subject.parameters, options };
				const output = await tryNode(subject, { parameters, continues: false, gateway, json });
				if ('message' in output) throw new Error(output.message);
				return output[0];
			};
			const [included, without] = [await outputOf(true), await outputOf(false)];
			expect(Object.keys(included.json)).toEqual(
				expect.arrayContaining([...Object.keys(without.json), 'name']),
			);
			expect(without.json).not.toHaveProperty('name');
			expect(Object.keys(included.binary ?? {})).toContain('data');
		},
	);
});
