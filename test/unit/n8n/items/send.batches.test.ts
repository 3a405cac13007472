import { Item } from '../../../../nodes/shared/n8n/items/item';
import { Batches } from '../../../../nodes/shared/n8n/items/send';

type Request = [model: string, texts: number];

const groupsOf = (maxSize: number, requests: Request[]) => {
	const batches = new Batches({
		key: ([model]: Request) => model,
		size: ([, texts]: Request) => texts,
		maxSize: () => maxSize,
		perform: async () => [],
	});
	requests.forEach((request, index) => batches.add(Object.assign(new Item(index), { request })));
	return batches.all.map((group) => group.map(({ index }) => index));
};

it.each<[string, Request[], number[][]]>([
	[
		'as many texts as its size',
		[
			['a', 1],
			['a', 2],
			['a', 1],
			['a', 2],
		],
		[
			[0, 1],
			[2, 3],
		],
	],
	[
		'the items of one model',
		[
			['a', 1],
			['b', 1],
			['a', 1],
		],
		[[0, 2], [1]],
	],
	[
		'one item that has more texts',
		[
			['a', 1],
			['a', 4],
			['a', 1],
		],
		[[0], [1], [2]],
	],
])('puts into a batch %s', (_, requests, groups) => {
	expect(groupsOf(3, requests)).toEqual(groups);
});
