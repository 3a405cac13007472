import { resumeToEnd } from '../harness';
import { chain, loopOver, modelGateway, waitForVideo } from '../support/workflows/workflows';
import { charged, create, jobsOf, orderedPrompts, run, withOrders } from '../support/orders';
import { results } from '../support/waits';

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

it('waits for no ID in the input fields of an item that orders nothing', async () => {
	await run(chain(keyed), ['Fog']);
	const options = { orderKey: '={{ $json.prompt }}', includeInputFields: true };
	const workflow = chain(create('a video', { options }), waitForVideo({ whileWaiting: 'hold' }));
	const input = [{ json: { id: 42, prompt: 'Fog' } }];
	const [{ json }] = results(await run(workflow, [], { input }));
	expect(json).toMatchObject({ id: 42, ordered: false, order_key: 'Fog' });
});

it('collects the video of an item that orders nothing by the ID that the user kept', async () => {
	const [kept] = jobsOf(await run(chain(keyed), ['Fog']));
	const wait = waitForVideo({ jobId: String(kept), whileWaiting: 'hold', download: false });
	const [{ json }] = results(await resumeToEnd(await run(chain(keyed, wait), ['Fog'])));
	expect(json).toMatchObject({ status: 'completed', job_id: kept });
});
