import { retryExecution } from '../harness';
import { chain, waitForVideo } from '../support/workflows/workflows';
import { charged, create, run, withOrders, world, type Fields } from '../support/orders';

/** The prompt of the item is its key. */
const keyed = (options: Fields = {}) =>
	chain(create('a video', { options: { orderKey: '={{ $json.prompt }}', ...options } }));

withOrders();

const left = {
	ordered: false,
	order_key: 'Waves',
	reason: expect.stringMatching(
		/so nothing was ordered: execution \d+ used it on \d+ \w+ \d{4} at /,
	),
};

it.each([
	['skipped by default', undefined, [{ json: left }, {}]],
	['dropped', 'drop', [{ pairedItem: { item: 1 } }]],
])(
	'gives the item of a used key the output that the user chose: %s',
	async (_, before, outputs) => {
		await run(keyed(), ['Waves']);
		const second = await run(keyed({ ifOrderedBefore: before }), ['Waves', 'Fog']);
		expect(second.items('Create')).toMatchObject(outputs);
		expect(charged()).toBe(2);
	},
);

it('fails the item of a used key when the user chose it, and names the key', async () => {
	await run(keyed(), ['Waves']);
	const second = await run(keyed({ ifOrderedBefore: 'fail' }), ['Waves']);
	expect(second.errorOf('Create')?.message).toContain('“Waves” was used before');
	expect((await retryExecution(second)).status).toBe('error');
	expect(charged()).toBe(1);
});

it.each(['skip', 'fail'])('says that the job under a used key has failed: %s', async (before) => {
	const options = { orderKey: '={{ $json.prompt }}', ifOrderedBefore: before };
	const both = chain(create('a video', { options: { once: options } }), waitForVideo());
	const first = run(both, ['Waves'], { mode: 'manual' });
	world.gateway.on('request', ({ jobId = '' }) =>
		world.gateway.jobs.fail(jobId, { code: 'upstream_error', message: 'too dark' }),
	);
	expect((await first).errorOf('Wait for Video')?.message).toContain('too dark');
	const second = await run(both, ['Waves']);
	const error = second.errorOf('Create');
	const said = error ? `${error.description}` : JSON.stringify(second.items('Create'));
	expect(said).toMatch(/Its job has failed: .*too dark.*Release Order Key/);
	expect(charged()).toBe(1);
});
