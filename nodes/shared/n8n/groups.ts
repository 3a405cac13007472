import type { ItemWork } from './operation';

/** Items that go in one request: each alone, unless the work takes several. */
export function groupsOf<Request, Made>(
	items: number[],
	requests: ReadonlyMap<number, Request>,
	batch: ItemWork<Request, Made>['batch'],
): number[][] {
	if (!batch) return items.map((item) => [item]);
	const open = new Map<string, { group: number[]; size: number }>();
	const groups: number[][] = [];
	for (const item of items) {
		const request = requests.get(item) as Request;
		const key = JSON.stringify(batch.key(request));
		const size = batch.size(request);
		let current = open.get(key);
		if (!current || current.size + size > batch.most(request)) {
			current = { group: [], size: 0 };
			open.set(key, current);
			groups.push(current.group);
		}
		current.group.push(item);
		current.size += size;
	}
	return groups;
}
