import { retryExecution } from '../harness';
import { chain } from '../support/workflows/workflows';
import {
	charged,
	create,
	images,
	loseNext,
	refuseNext,
	requested,
	routeOf,
	run,
	texts,
	withOrders,
	world,
} from '../support/orders';

withOrders();

it.each([...images, ...texts])(
	'charges %s once for each item, although the node runs again for all of them',
	async (thing) => {
		refuseNext(thing, 'Fog');
		const failed = await run(chain(create(thing)), ['Waves', 'Fog', 'Rain']);
		expect([failed.status, charged()]).toEqual(['error', 2]);
		expect((await retryExecution(failed)).items('Create')).toHaveLength(3);
		expect([requested(thing), charged()]).toEqual([4, 3]);
	},
);

it('sends no image again by itself after a lost response when the user chose Stop and Report', async () => {
	loseNext('an image');
	const failed = await run(chain(create('an image', { options: { ifAnswerLost: 'stop' } })));
	expect(failed.errorOf('Create')?.message).toContain('before the response arrived');
	expect(requested('an image')).toBe(1);
});

it.each(['a chat', 'an image'] as const)(
	'requests %s once when its response has begun to arrive and broke off',
	async (thing) => {
		world.gateway.fault({ route: routeOf(thing), action: 'cut', after: '60%' });
		const failed = await run(chain(create(thing)));
		expect(failed.errorOf('Create')?.context.data).toMatchObject({ billed: 'unknown' });
		expect((await retryExecution(failed)).status).toBe('error');
		expect(requested(thing)).toBe(1);
	},
);

it('gives an image in Retries with other output settings, without a second charge', async () => {
	const gone = world.gateway.fault({ route: 'download', action: 'answer', status: 404, times: 99 });
	const failed = await run(chain(create('an image')));
	expect(failed.status).toBe('error');
	gone.remove();
	const workflow = chain(create('an image', { download: false }));
	const [link] = (await retryExecution(failed, { workflow })).items('Create');
	expect([link.json.url, link.binary]).toEqual([expect.any(String), undefined]);
	const [file] = (await retryExecution(failed)).items('Create');
	expect(file.binary?.data).toMatchObject({ mimeType: 'image/png' });
	expect(charged()).toBe(1);
});
