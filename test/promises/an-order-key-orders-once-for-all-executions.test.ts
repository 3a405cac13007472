import { EngineProcess } from '../harness';
import { chain } from '../support/workflows/workflows';
import { charged, create, run, withOrders, type Fields, type Thing } from '../support/orders';

const things: Thing[] = ['a reference video', 'an image'];
/** The prompt of the item is its key. */
const keyed = (options: Fields = {}, thing: Thing = 'a video') =>
	chain(create(thing, { options: { orderKey: '={{ $json.prompt }}', ...options } }));
const orderedOf = async (workflow: ReturnType<typeof chain>, prompts?: string[]) =>
	(await run(workflow, prompts)).items('Create').map(({ json }) => json.ordered ?? true);

withOrders();

it.each(things)(
	'orders a key once in all executions and all processes of n8n: %s',
	async (thing) => {
		expect(await orderedOf(keyed({}, thing), ['Waves'])).toEqual([true]);
		expect(await orderedOf(keyed({}, thing), ['Fog', 'Waves'])).toEqual([true, false]);
		const restarted = new EngineProcess();
		expect(
			await restarted.run(async () => await orderedOf(keyed({}, thing), ['Waves', 'Fog'])),
		).toEqual([false, false]);
		expect(charged()).toBe(2);
	},
);

it('orders once for two items with one key, and for two executions at the same moment', async () => {
	expect(await orderedOf(keyed(), ['Waves', 'Waves'])).toEqual([true, false]);
	const skipped = await run(keyed(), ['Waves', 'Waves']);
	expect(skipped.hintsOf('Create').join()).toMatch(/^Order Key “Waves” was used before, [^“]*$/);
	await Promise.all([run(keyed(), ['Fog']), run(keyed(), ['Fog'])]);
	expect(charged()).toBe(2);
});

it('refuses another order under a used key', async () => {
	const same = { orderKey: 'A-1' };
	await run(keyed(same), ['Waves']);
	const other = await run(keyed(same), ['Fog']);
	expect(other.errorOf('Create')?.message).toContain(
		'“A-1” was used before, and for another order',
	);
	expect(charged()).toBe(1);
	// Two items of one list: the first has the key.
	const settings = { onError: 'continueRegularOutput' } as const;
	const both = chain(create('a video', { options: { orderKey: 'B-2' }, settings }));
	expect(
		(await run(both, ['Waves', 'Fog'])).items('Create').map(({ json }) => json.error ?? ''),
	).toEqual(['', expect.stringContaining('“B-2” was used before, and for another order')]);
	expect(charged()).toBe(2);
});

it('orders again once a run has released the key, which itself orders nothing', async () => {
	await run(keyed(), ['Waves', 'Fog']);
	const releases = keyed({ releaseOrderKey: '={{ $json.prompt === "Waves" }}' });
	expect(await orderedOf(releases, ['Waves', 'Fog'])).toEqual([false, false]);
	expect(charged()).toBe(2);
	expect(await orderedOf(keyed(), ['Waves', 'Fog'])).toEqual([true, false]);
});

it.each(['', '\u200b\u2060', '={{ $json.nothing }}', '={{ true }}'])(
	'orders nothing under a key that is empty or no text: “%s”',
	async (orderKey) => {
		const failed = await run(keyed({ orderKey }));
		expect(failed.errorOf('Create')?.message).toContain('Order Key');
		expect(charged()).toBe(0);
	},
);
