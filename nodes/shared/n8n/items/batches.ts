import type { Batching } from './work';

/** Items that go in one request: each alone, unless the work takes several. */
export function batchesOf<Request, Item extends { request: Request }>(
	items: Item[],
	batch: Batching<Request, unknown> | undefined,
): Item[][] {
	if (!batch) return items.map((item) => [item]);
	const open = new Map<string, Array<{ items: Item[]; room: number }>>();
	const batches: Item[][] = [];
	for (const item of items) {
		const { request } = item;
		const key = JSON.stringify(batch.key(request));
		const size = batch.size(request);
		const withRoom = (open.get(key) ?? []).filter(({ room }) => room > 0);
		let own = withRoom.find(({ room }) => room >= size);
		if (!own) {
			own = { items: [], room: batch.maxSize(request) };
			withRoom.push(own);
			batches.push(own.items);
		}
		own.items.push(item);
		own.room -= size;
		open.set(key, withRoom);
	}
	return batches;
}
