import { Item } from '../../../../nodes/shared/n8n/items/item';
import { Batches } from '../../../../nodes/shared/n8n/items/send';
import { fc } from '../../../support/data/fuzz';

interface Request {
	model: string;
	size: number;
	maxSize: number;
}

/** Items of two models, with one to three texts each; all of them have the same batch size. */
const requests = fc
	.tuple(
		fc.integer({ min: 1, max: 5 }),
		fc.array(fc.record({ model: fc.constantFrom('a', 'b'), size: fc.integer({ min: 1, max: 3 }) })),
	)
	.map(([maxSize, list]) => list.map((request) => ({ ...request, maxSize })));

const batch = {
	key: ({ model }: Request) => model,
	size: ({ size }: Request) => size,
	maxSize: ({ maxSize }: Request) => maxSize,
	perform: async () => [],
};
const groups = (list: Request[]) => {
	const batches = new Batches(batch);
	list.forEach((request, index) => batches.add(Object.assign(new Item(index), { request })));
	return batches.all.map((group) => group.map(({ index }) => index));
};

it('puts every item into one batch, in order, of one model, and within the batch size unless one item alone has more texts', () => {
	fc.assert(
		fc.property(requests, (list) => {
			const all = groups(list);
			expect(all.flat().sort((a, b) => a - b)).toEqual([...list.keys()]);
			for (const group of all) {
				expect(group).toEqual([...group].sort((a, b) => a - b));
				expect(new Set(group.map((item) => list[item].model)).size).toBe(1);
				const size = group.reduce((sum, item) => sum + list[item].size, 0);
				expect(size <= list[group[0]].maxSize || group.length === 1).toBe(true);
			}
		}),
	);
});
