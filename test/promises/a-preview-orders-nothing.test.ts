import { chain, waitForVideo } from '../support/workflows/workflows';
import { create, refuseNext, requested, run, videos, withOrders, world } from '../support/orders';

withOrders();

it.each([...videos, 'an image', 'an edited image'] as const)(
	'sends nothing and shows the request as it would be sent: %s',
	async (thing) => {
		const [{ json }] = (await run(chain(create(thing, { preview: true })))).items('Create');
		expect(json).toMatchObject({ ordered: false, preview: true, would: 'order' });
		expect(json.request).toMatchObject({ method: 'POST' });
		expect(JSON.stringify(json.request)).toContain('Waves');
		expect(world.gateway.requests.filter(({ host }) => host !== 'storage')).toEqual([]);
		refuseNext(thing);
		await run(chain(create(thing)));
		expect(requested(thing)).toBe(1);
		const sent = world.gateway.requests.find(({ method }) => method === 'POST');
		expect((json.request as { url: string }).url).toContain(sent?.url);
	},
);

it('shows what an order would be refused for: a wrong value, a used key, a limit', async () => {
	const options = {
		duration: '={{ $json.prompt === "Fog" ? 99 : 2 }}',
		orderKey: '={{ $json.prompt }}',
		maxOrders: 1,
	};
	const settings = { onError: 'continueRegularOutput' } as const;
	await run(chain(create('a reference video', { options })), ['Rain']);
	const node = create('a reference video', { options, settings, preview: true });
	const items = (await run(chain(node), ['Fog', 'Rain', 'Waves', 'Wind'])).items('Create');
	expect(items.map(({ json }) => json.would)).toEqual(['fail', 'skip', 'order', 'fail']);
	expect(items[0].json).toMatchObject({ reason: /Duration/, advice: expect.any(String) });
	expect(requested('a reference video')).toBe(1);
});

it('uses up no limit, and its hint says what would be ordered', async () => {
	const limits = { options: { maxOrders: 2, maxOrdersPerDay: 2 } };
	for (let time = 0; time < 3; time++) {
		const preview = create('a video', { ...limits, preview: true });
		const hints = (await run(chain(preview), ['Fog', 'Rain'])).hintsOf('Create');
		expect(hints.join()).toMatch(/2 videos.* would be ordered/);
	}
	await run(chain(create('a video', limits)), ['Fog', 'Rain']);
	expect(requested('a video')).toBe(2);
});

it('passes previewed items on in Wait for Video, which asks the service nothing', async () => {
	const wait = waitForVideo({ whileWaiting: 'hold' });
	const result = await run(chain(create('a video', { preview: true }), wait), ['Fog', 'Rain']);
	expect(result.items('Wait for Video')).toMatchObject([
		{ json: { preview: true, would: 'order' }, pairedItem: { item: 0 } },
		{ json: { preview: true, would: 'order' }, pairedItem: { item: 1 } },
	]);
	expect(world.gateway.requests).toEqual([]);
});
