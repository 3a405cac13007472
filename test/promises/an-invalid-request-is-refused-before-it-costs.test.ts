import { byId, chain } from '../support/workflows/workflows';
import { create, orderedPrompts, run, withOrders, world, type Fields } from './orders';

const r2v = (more: Fields) => chain(create('a reference video', more));
/** Wrong for the item with this prompt only. */
const wrongFor = (prompt: string) => `={{ $json.prompt === "${prompt}" ? 99 : 2 }}`;
const sent = () => world.gateway.requests.filter(({ host }) => host === 'api');

withOrders();

it('names all problems of a request at once, and sends nothing', async () => {
	const failed = await run(
		r2v({ prompt: 'a'.repeat(5001), options: { duration: 99, ratio: '2:1' }, mediaJson: '[]' }),
	);
	const { message, description } = failed.errorOf('Create') ?? {};
	for (const label of ['Prompt', 'Duration', 'Aspect Ratio', 'Media'])
		expect(`${message} ${description}`).toContain(label);
	expect(sent()).toEqual([]);
});

it('orders no item of a list when one of them is wrong', async () => {
	const failed = await run(r2v({ options: { duration: wrongFor('Rain') } }), [
		'Waves',
		'Fog',
		'Rain',
	]);
	expect(failed.errorOf('Create')?.message).toContain('Item 2');
	expect(sent()).toEqual([]);
});

it('orders the other items when the node continues on errors', async () => {
	const settings = { onError: 'continueErrorOutput' } as const;
	const list = r2v({ settings, options: { duration: wrongFor('Rain') } });
	const execution = await run(list, ['Rain', 'Waves']);
	expect(execution.items('Create', { output: 1 })).toMatchObject([
		{ json: { details: { billed: 'no' } }, pairedItem: { item: 0 } },
	]);
	expect(orderedPrompts()).toEqual(['Waves']);
});

it.each<[string, Fields]>([
	['more media than the model takes', { mediaJson: '={{ Array(6).fill($json.media[0]) }}' }],
	['media behind a share link', { mediaJson: '["https://drive.google.com/file/d/1/view"]' }],
	['an empty prompt', { prompt: ' ' }],
	[
		'a voice for which the model has no place',
		{
			model: byId('alpha-1.1-r2v'),
			mediaJson: '={{ [{ ...$json.media[0], reference_voice: "https://media.example/a.mp3" }] }}',
		},
	],
	['Extra Body that is no JSON', { options: { extraBody: '{ "a": ' } }],
])('sends no request with %s', async (_, parameters) => {
	const failed = await run(r2v(parameters));
	expect(failed.errorOf('Create')?.description).toContain('Nothing was sent');
	expect(sent()).toEqual([]);
});
