import { registerTypes } from '../harness';
import { withGateway } from '../support/http/withGateway';
import { embeddingsUser } from '../support/workflows/embeddingsUser';
import { byId, chain, embeddings, withSubNodes } from '../support/workflows/workflows';
import type { Fields } from '../support/nodes';

const { gateway, runWorkflow } = withGateway({});

/** Stores and searches as a vector store does. */
const store = embeddingsUser(async (embeddings, { documents, query }) => ({
	documents: await embeddings.embedDocuments((documents ?? []) as string[]),
	query: await embeddings.embedQuery(String(query)),
}));
beforeAll(() => registerTypes({ nodes: [store] }));

const use = async (json: Fields, options: Fields = {}) =>
	await runWorkflow(
		withSubNodes(chain({ name: 'Store', type: 'test.store' }), [
			'ai_embedding',
			embeddings({ model: byId('embed-1'), options }),
		]),
		{ input: [{ json }] },
	);
const bodies = () => gateway.requests.map(({ body }) => body as Fields);
const texts = (count: number) => Array.from({ length: count }, (_, number) => `Text ${number}`);

it('gives the vectors of all documents in their order, and that of the query', async () => {
	gateway.fault({ route: 'embedding', action: 'shuffle', times: Infinity });
	const [{ json }] = (await use({ documents: texts(5), query: 'Text 3' }, { batchSize: 2 })).items(
		'Store',
	);
	const vectors = json.documents as number[][];
	expect(vectors.map(({ length }) => length)).toEqual([256, 256, 256, 256, 256]);
	expect(json.query).toEqual(vectors[3]);
	expect(vectors[2]).not.toEqual(vectors[3]);
	const sizes = bodies().map(({ input }) => (input as string[]).length);
	expect(sizes.sort()).toEqual([1, 1, 2, 2]);
});

it('sends only the options that are set, and turns line breaks into spaces unless told otherwise', async () => {
	await use({ query: 'one\ntwo' });
	await use({ query: 'one\ntwo' }, { dimensions: 64, stripNewLines: false });
	expect(bodies()).toEqual([
		{ model: 'embed-1', input: ['one two'] },
		{ model: 'embed-1', input: ['one\ntwo'], dimensions: 64 },
	]);
});

it('says at the vector store what failed, whether it is charged, and what to do', async () => {
	const result = await use({ documents: ['fine', '[blocked]'], query: 'a' });
	expect(result.errorOf('Store')).toMatchObject({
		message: expect.stringMatching(/Could not create the embeddings.*invalid_prompt/),
		description: expect.stringMatching(/Nothing was charged/),
	});
	expect(result.errorOf('Store')?.context.data).toMatchObject({ status: 400, billed: 'no' });
});

it('shows the texts, the vectors and the tokens in the log of the embeddings', async () => {
	const result = await use({ query: 'Text 0' });
	const log = result.data.resultData.runData.Embeddings.at(-1);
	expect(log).toMatchObject({
		inputOverride: { ai_embedding: [[{ json: { query: 'Text 0' } }]] },
		data: { ai_embedding: [[{ json: { tokenUsage: { totalTokens: expect.any(Number) } } }]] },
	});
});
