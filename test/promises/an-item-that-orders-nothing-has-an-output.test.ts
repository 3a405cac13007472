import { resumeToEnd } from '../harness';
import { chain, loopOver, modelGateway, waitForVideo } from '../support/workflows/workflows';
import { charged, create, orderedPrompts, run, withOrders } from './orders';
import { results } from './waits';

const prompts = ['Clouds', 'Fog', 'Rain', 'Waves'];
const keyed = create('a video', { options: { orderKey: '={{ $json.prompt }}' } });

withOrders();

it('gives an output to an item that orders nothing, which Get Status and Wait for Video pass on', async () => {
	await run(chain(keyed), ['Fog']);
	const get = modelGateway({ resource: 'video', operation: 'get', videoId: '={{ $json.id }}' });
	const wait = waitForVideo({ whileWaiting: 'hold' });
	const workflow = chain(keyed, get, wait);
	const execution = await resumeToEnd(await run(workflow, ['Clouds', 'Fog']));
	const [video, left] = results(execution);
	expect(video.json).toMatchObject({ status: 'completed' });
	expect(left.json).toMatchObject({ ordered: false, order_key: 'Fog', reason: expect.any(String) });
	expect(left.json).not.toHaveProperty('job_id');
});

it('lets a loop continue after an item that orders nothing', async () => {
	await run(chain(keyed), ['Fog']);
	expect((await run(loopOver(keyed), prompts)).status).toBe('success');
	expect([orderedPrompts(), charged()]).toEqual([prompts, 4]);
});
