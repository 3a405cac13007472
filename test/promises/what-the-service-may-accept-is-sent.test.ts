import { byId, chain, modelGateway } from '../support/workflows/workflows';
import { charged, create, run, withOrders, world, type Fields } from '../support/orders';

const r2v = (more: Fields) => chain(create('a reference video', more));
const sent = () => world.gateway.requests.filter(({ host }) => host === 'api');

withOrders();

it('sends what the service may accept: to an unknown model, a value that no rule names', async () => {
	const media = { type: 'reference_image', url: world.media[0].url };
	const extra = { input: { style: 'new' }, parameters: { duration: 99 } };
	const options = { ratio: '2:1', resolution: '8K' };
	const unknown = r2v({
		model: byId('gamma-9-r2v'),
		mediaJson: JSON.stringify([media]),
		options: { ...options, extraBody: JSON.stringify(extra) },
	});
	world.gateway.fault({
		route: 'referenceVideoCreate',
		action: 'answer',
		body: JSON.stringify({ output: { task_id: 'task_9' } }),
	});
	const execution = await run(unknown);
	expect(execution.items('Create')).toMatchObject([{ json: { output: { task_id: 'task_9' } } }]);
	expect(sent()[0].body).toMatchObject({
		model: 'gamma-9-r2v',
		input: extra.input,
		parameters: { ...options, ...extra.parameters },
	});
});

it('sends a parameter that the service does not list for a model, with a hint', async () => {
	const execution = await run(r2v({ options: { seed: 7 } }));
	expect(execution.hintsOf('Create').join()).toContain('Seed');
	expect([sent().length, charged()]).toEqual([1, 1]);
});

it.each([
	['fields', { media: { values: [{ type: 'reference_image', url: 'LINK' }] } }],
	['json', { mediaJson: '[{ "type": "reference_image", "url": "LINK" }]' }],
])('sends a link with spaces and umlauts as browsers do: %s', async (mediaInput, fields) => {
	const link = 'https://bücher.example/my käse%20a.png?x=a b#c';
	await run(r2v({ mediaInput, ...JSON.parse(JSON.stringify(fields).replace('LINK', link)) }));
	expect(sent()[0].body).toMatchObject({
		input: {
			media: [{ url: 'https://xn--bcher-kva.example/my%20k%C3%A4se%20a.png?x=a%20b#c' }],
		},
	});
});

it('asks for a job whose ID is long', async () => {
	const videoId = 'v'.repeat(2_000);
	await run(chain(modelGateway({ resource: 'video', operation: 'get', videoId })));
	expect(sent()[0].url).toBe(`/v1/videos/${videoId}`);
});
