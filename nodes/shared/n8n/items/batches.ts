import type { Batching } from './work';

/** Groups items into requests: one item each, unless the work sends several at once. */
export function batchesOf<Request, Item extends { request: Request }>(
	items: Item[],
	batch: Batching<Request, unknown> | undefined,
): Item[][] {
	if (!batch) return items.map((item) => [item]);
	const openBatches = new Map<string, Array<{ items: Item[]; room: number }>>();
	const batches: Item[][] = [];
	for (const item of items) {
		const { request } = item;
		const key = JSON.stringify(batch.key(request));
		const size = batch.size(request);
		const candidates = (openBatches.get(key) ?? []).filter(({ room }) => room > 0);
		let target = candidates.find(({ room }) => room >= size);
		if (!target) {
			target = { items: [], room: batch.maxSize(request) };
			candidates.push(target);
			batches.push(target.items);
		}
		target.items.push(item);
		target.room -= size;
		openBatches.set(key, candidates);
	}
	return batches;
}
