import { withGateway } from '../support/http/withGateway';
import { nodeFor, run, type Fields } from '../support/nodes';

const { gateway } = withGateway({});

const embed = async (inputs: unknown[], options: Fields = {}, settings = {}) => {
	const node = nodeFor('embedding.create', { input: '={{ $json.input }}', options }, settings);
	return await run(gateway, node, {
		input: inputs.map((input) => ({ json: { input } as Fields })),
	});
};
const texts = (count: number) => Array.from({ length: count }, (_, number) => `Text ${number}`);
const sent = () => gateway.requests.map(({ body }) => (body as { input: string[] }).input);

it('sends a hundred items in a request, and gives each its own vector', async () => {
	const alone = (await embed(['Text 137'])).items('Node')[0].json.embedding;
	gateway.fault({ route: 'embedding', action: 'shuffle', times: Infinity });
	const items = (await embed(texts(250))).items('Node');
	expect(sent().map(({ length }) => length)).toEqual([1, 100, 100, 50]);
	expect(items.map(({ pairedItem }) => pairedItem)).toEqual(
		texts(250).map((_, item) => ({ item })),
	);
	expect(items[137].json.embedding).toEqual(alone);
});

it('gives the vectors of a list in one item, in the order of the list, whatever the batch size', async () => {
	const single = (await embed(texts(5))).items('Node').map(({ json }) => json.embedding);
	gateway.fault({ route: 'embedding', action: 'shuffle', times: Infinity });
	const items = (await embed([texts(5)], { batchSize: 2 })).items('Node');
	expect(items.map(({ json }) => json.embeddings)).toEqual([single]);
	expect(sent().slice(1)).toEqual([['Text 0', 'Text 1'], ['Text 2', 'Text 3'], ['Text 4']]);
});

it('fails only the item whose text is refused', async () => {
	const inputs = texts(9).map((text, index) => (index === 4 ? '[blocked]' : text));
	const result = await embed(inputs, {}, { onError: 'continueErrorOutput' });
	expect(result.items('Node')).toHaveLength(8);
	expect(result.items('Node', { output: 1 })).toMatchObject([
		{ json: { details: { code: 'invalid_prompt' } }, pairedItem: { item: 4 } },
	]);
});
