import { mp4Of } from '../support/files/boxes';
import { withGateway } from '../support/http/withGateway';
import { earlierJob } from '../support/workflows/earlierJobs';
import { core } from '../support/workflows/workflows';
import { allOperations, itemsOf, nodeFor, run, type Fields } from '../support/nodes';

const { gateway } = withGateway({ jobSeconds: Infinity });

/** An item for every operation: a text, and the IDs of two finished jobs. */
const itemFor = (text: string): Fields => ({
	text,
	task_id: earlierJob(gateway, 'task', mp4Of(100)).id,
	id: earlierJob(gateway, 'video', mp4Of(100)).id,
});
const pairsOf = (items: Array<{ pairedItem?: unknown }>) =>
	items.map(({ pairedItem }) => pairedItem);

it.each(allOperations.filter((name) => name !== 'model.getAll'))(
	'gives an item for each item, paired with it and in its order: %s',
	async (name) => {
		const items = ['A boat', 'A kite', 'A lamp'].map(itemFor);
		const result = await run(gateway, nodeFor(name), { input: itemsOf(...items) });
		expect(pairsOf(result.items('Node'))).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
		const ids = items.map(({ id, task_id }) => (name === 'referenceVideo.get' ? task_id : id));
		if (/get/.test(name)) {
			expect(result.items('Node').map(({ json }) => json.task_id ?? json.id)).toEqual(ids);
		}
	},
);

it('pairs each of the images of an item, and each model of a list, with that item', async () => {
	const options = { n: 2 };
	const input = itemsOf({ text: 'A boat' }, { text: 'A kite' });
	const images = await run(gateway, nodeFor('image.generate', { options, download: false }), {
		input,
	});
	expect(pairsOf(images.items('Node'))).toEqual([0, 0, 1, 1].map((item) => ({ item })));
	const models = (await run(gateway, nodeFor('model.getAll', { limit: 2 }))).items('Node');
	expect(new Set(pairsOf(models).map((pair) => JSON.stringify(pair)))).toEqual(
		new Set(['{"item":0}']),
	);
});

it('sends nothing for an empty input', async () => {
	const result = await run(gateway, [
		core('None', 'limit', { maxItems: 0 }),
		nodeFor('chat.complete'),
	]);
	expect(result.status).toBe('success');
	expect(gateway.requests).toEqual([]);
});
