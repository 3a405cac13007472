import type { Batching } from './work';

/** Batches of one key that are kept open for smaller items: to look through all of them would take ever longer. */
const maxOpen = 20;

/** Groups items into requests: one item each, unless the work sends several at once. */
export class Batches<Request, Item extends { request: Request }> {
	readonly all: Item[][] = [];
	private readonly open = new Map<string, Array<{ items: Item[]; room: number }>>();

	constructor(private readonly batch: Batching<Request, unknown> | undefined) {}

	add(item: Item): void {
		const { request } = item;
		if (!this.batch) {
			this.all.push([item]);
			return;
		}
		const key = JSON.stringify(this.batch.key(request));
		const size = this.batch.size(request);
		const candidates = (this.open.get(key) ?? []).filter(({ room }) => room > 0);
		let target = candidates.find(({ room }) => room >= size);
		if (!target) {
			target = { items: [], room: this.batch.maxSize(request) };
			candidates.push(target);
			this.all.push(target.items);
		}
		target.items.push(item);
		target.room -= size;
		this.open.set(key, candidates.slice(-maxOpen));
	}
}
