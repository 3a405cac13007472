import { processedItems } from '../harness';
import { chain, type NodeSettings } from '../support/workflows/workflows';
import {
	charged,
	create,
	loseNext,
	orderedPrompts,
	refuseNext,
	requested,
	run,
	videos,
	withOrders,
} from '../support/orders';
import type { Fields, Thing } from '../support/orders';

const keyed = (more: Fields = {}, settings: NodeSettings = {}, thing: Thing = 'a video') =>
	chain(
		create(thing, {
			...more,
			options: { orderKey: '={{ $json.prompt }}', ...(more.options as Fields) },
			settings,
		}),
	);
const continues = { onError: 'continueRegularOutput' } as const;

withOrders();

it.each(videos)('orders under a key whose first order the service refused: %s', async (thing) => {
	refuseNext(thing);
	expect((await run(keyed({}, {}, thing))).status).toBe('error');
	expect((await run(keyed({}, {}, thing))).status).toBe('success');
	expect(orderedPrompts()).toEqual(['Waves']);
});

it('orders under a key of which there was only a preview', async () => {
	await run(keyed({ preview: true }));
	await run(keyed());
	expect(orderedPrompts()).toEqual(['Waves']);
});

it('orders under a key that a limit did not allow to be used', async () => {
	await run(keyed({ options: { maxOrders: 1 } }, continues), ['Fog', 'Waves']);
	expect(orderedPrompts()).toEqual(['Fog']);
	await run(keyed(), ['Fog', 'Waves']);
	expect(orderedPrompts()).toEqual(['Fog', 'Waves']);
});

it('orders under a key whose item was wrong, or whose list had a wrong item', async () => {
	const model = '={{ $json.prompt === "Waves" ? "" : "vid-3.1" }}';
	for (const settings of [{}, continues]) {
		await run(keyed({ model: { __rl: true, mode: 'id', value: model } }, settings), [
			'Waves',
			'Fog',
		]);
	}
	await run(keyed(), ['Waves', 'Fog']);
	expect(orderedPrompts()).toEqual(['Fog', 'Waves']);
});

const failures = (['a video', 'an image'] as const).flatMap((thing) =>
	Array.from({ length: 14 }, (_, calls) => [thing, calls] as const),
);
it.each(failures)(
	'orders under a key after n8n’s database has failed: %s, from call %i on',
	async (thing, calls) => {
		let left = calls;
		processedItems.precede = () => {
			if (left-- <= 0) throw new Error('SQLITE_BUSY: database is locked');
		};
		await run(keyed({}, {}, thing));
		left = Infinity;
		await run(keyed({}, {}, thing));
		expect(requested(thing)).toBe(1);
	},
);

it.each(videos)('uses up the key of an order whose response was lost: %s', async (thing) => {
	loseNext(thing);
	await run(keyed({}, {}, thing));
	const [item] = (await run(keyed({}, {}, thing))).items('Create');
	expect(item.json).toMatchObject({ ordered: false, order_key: 'Waves' });
	expect(charged()).toBe(1);
});
