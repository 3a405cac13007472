import { mp4Of } from '../support/files/boxes';
import { withGateway } from '../support/http/withGateway';
import { earlierJob } from '../support/workflows/earlierJobs';
import { waitForVideo } from '../support/workflows/workflows';
import { allOperations, itemsOf, nodeFor, png, run, type Fields } from '../support/nodes';

const { gateway } = withGateway({
	jobSeconds: 0,
	render: async () => mp4Of(1_000),
	draw: async () => png,
	isTimeSimulated: true,
});

const options = { includeInputFields: true };

it.each(allOperations)('adds the fields and files of the item: %s', async (name) => {
	const input = itemsOf({
		name: 'Red mug',
		task_id: earlierJob(gateway, 'task').id,
		id: earlierJob(gateway, 'video', mp4Of(1_000)).id,
	});
	const files = { binaryField: 'made', download: true };
	const itemOf = async (more: Fields) => {
		return (await run(gateway, nodeFor(name, { ...files, ...more }), { input })).items('Node')[0];
	};
	const [plain, more] = [await itemOf({}), await itemOf({ options })];
	expect(plain.json).not.toHaveProperty('name');
	expect(Object.keys(more.json)).toEqual(
		expect.arrayContaining([...Object.keys(plain.json), 'name']),
	);
	const own = Object.keys(plain.binary ?? {});
	expect(Object.keys(more.binary ?? {}).sort()).toEqual([...own, 'data'].sort());
});

it('passes a name through an order and its wait to the name of the file', async () => {
	const order = nodeFor('video.create', { options });
	const wait = waitForVideo({ options: { ...options, fileName: '={{ $json.name }}' } });
	const result = await run(gateway, [order, wait], { input: [{ json: { name: 'Red mug' } }] });
	const [{ json, binary }] = result.items('Wait for Video');
	expect(json).toMatchObject({ name: 'Red mug', status: 'completed', job_id: json.id });
	expect(binary?.data.fileName).toBe('Red mug.mp4');
});

it('lets the fields of the node win, and gives other names to those that tell of an earlier node', async () => {
	const input = [{ json: { id: 'product-7', model: 'a car', error: 'no', ordered: false } }];
	const [{ json }] = (await run(gateway, nodeFor('video.create', { options }), { input })).items(
		'Node',
	);
	expect(json).toMatchObject({ id: gateway.ledger[0].job, model: 'vid-3.1', status: 'queued' });
	expect(json).toMatchObject({ input_error: 'no', input_ordered: false });
	expect(json).not.toHaveProperty('error');
	expect(json).not.toHaveProperty('ordered');
});

it('gives what an item without any fields has ordered, and asks for the job that it does not have', async () => {
	const input = [{}] as ReturnType<typeof itemsOf>;
	const order = nodeFor('video.create', { prompt: 'A boat', options });
	const ordered = await run(gateway, order, { input });
	expect(ordered.items('Node')[0].json.id).toBe(gateway.ledger[0].job);
	const waited = await run(gateway, waitForVideo(), { input });
	expect(waited.errorOf('Wait for Video')?.message).toMatch(/^Job ID is empty/);
});
