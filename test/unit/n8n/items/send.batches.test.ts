import { Batches } from '../../../../nodes/shared/n8n/items/send';
import { fc } from '../../../support/fuzz';

interface Request {
	model: string;
	size: number;
	most: number;
}

/** Items of two models, with up to three texts each; requests of one model share their batch size. */
const requests = fc
	.tuple(
		fc.integer({ min: 1, max: 5 }),
		fc.array(fc.record({ model: fc.constantFrom('a', 'b'), size: fc.integer({ min: 1, max: 3 }) })),
	)
	.map(([most, list]) => list.map((request) => ({ ...request, most })));

const batch = {
	key: ({ model }: Request) => model,
	size: ({ size }: Request) => size,
	maxSize: ({ most }: Request) => most,
	perform: async () => [],
};
const groups = (list: Request[]) => {
	const batches = new Batches<Request, { item: number; request: Request }>(batch);
	list.forEach((request, item) => batches.add({ item, request }));
	return batches.all.map((group) => group.map(({ item }) => item));
};

describe('the items of one request', () => {
	it('has every item once, in order, and items of one model only', () => {
		fc.assert(
			fc.property(requests, (list) => {
				const all = groups(list);
				expect(all.flat().sort((a, b) => a - b)).toEqual([...list.keys()]);
				for (const group of all) {
					expect(group).toEqual([...group].sort((a, b) => a - b));
					expect(new Set(group.map((item) => list[item].model)).size).toBe(1);
				}
			}),
		);
	});

	it('has at most as many texts as the batch size, unless one item alone has more', () => {
		fc.assert(
			fc.property(requests, (list) => {
				for (const group of groups(list)) {
					const size = group.reduce((sum, item) => sum + list[item].size, 0);
					expect(size <= list[group[0]].most || group.length === 1).toBe(true);
				}
			}),
		);
	});

	it('makes as few requests as the batch size allows', () => {
		const list = Array.from({ length: 1000 }, () => ({ model: 'a', size: 1, most: 100 }));
		expect(groups(list)).toHaveLength(10);
	});

	it('has one item when the work takes one at a time', () => {
		const items = [{ request: 3 }, { request: 5 }];
		const batches = new Batches<number, { request: number }>(undefined);
		items.forEach((item) => batches.add(item));
		expect(batches.all).toEqual([[items[0]], [items[1]]]);
	});
});
