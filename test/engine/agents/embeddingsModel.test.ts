import type { IDataObject } from 'n8n-workflow';
import { registerTypes } from '../../harness';
import { embeddingsUser } from '../../support/workflows/embeddingsUser';
import { byId, chain, embeddings, withSubNodes } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const store = embeddingsUser(async (embeddings, json) => {
	const { documents, query } = json as { documents?: string[]; query?: string };
	return {
		...(documents && { documents: await embeddings.embedDocuments(documents) }),
		...(query !== undefined && { query: await embeddings.embedQuery(query) }),
	};
});

describe('Embeddings Model Gateway', () => {
	beforeAll(() => registerTypes({ nodes: [store] }));
	const { gateway, runWorkflow } = withGateway({});

	const run = async (
		input: { documents?: unknown[]; query?: unknown },
		{ options = {}, onStart, model = 'embed-1' }: RunSettings = {},
	) =>
		await runWorkflow(
			withSubNodes(chain({ name: 'Store', type: 'test.store' }), [
				'ai_embedding',
				embeddings({ model: byId(model), options }),
			]),
			{ input: [{ json: input as IDataObject }], onStart },
		);
	interface RunSettings {
		options?: IDataObject;
		onStart?: (cancel: () => void) => void;
		model?: string;
	}
	const texts = (count: number) =>
		Array.from({ length: count }, (_, index) => `Text number ${index}`);

	it.each(['"always the same"', '""', 'null', '[]'])(
		'refuses the input %s in Extra Body',
		async (input) => {
			const options = { extraBody: `{ "input": ${input} }` };
			const error = (await run({ documents: texts(2) }, { options })).errorOf('Store');
			expect(error?.message).toContain(
				'Extra Body (JSON) cannot have “input”: the texts are those of the vector store',
			);
			expect(gateway.requests).toEqual([]);
		},
	);

	it.each([
		{ input: { documents: ['a', 'b', ' \n'] }, says: 'Of 3 documents, these are empty: 3' },
		{ input: { documents: ['', 'b', null] }, says: 'Of 3 documents, these are empty: 1; 3' },
		{ input: { query: ' ' }, says: 'The query is empty' },
		{ input: { query: 7 }, says: 'The query is empty' },
	])('names empty texts before it sends anything: $says', async ({ input, says }) => {
		const result = await run(input);
		expect(result.errorOf('Store')?.message).toBe(says);
		expect(result.errorOf('Store')?.description).toContain('nothing was charged');
		expect(gateway.requests).toHaveLength(0);
	});

	it('stops at once when the user presses Stop', async () => {
		let stop = () => {};
		const when = () => (stop(), true);
		gateway.fault({ route: 'embedding', action: 'stall', times: Infinity, when });
		const onStart = (cancel: () => void) => void (stop = cancel);
		const result = await run({ documents: texts(2) }, { onStart });
		expect(result.status).toBe('canceled');
		expect(gateway.requests).toHaveLength(1);
	});

	it('names all invalid options before it sends anything', async () => {
		const options = { batchSize: 0, dimensions: 2.5, timeout: 'soon' };
		const result = await run({ query: 'a' }, { options, model: '' });
		const error = result.errorOf('Store');
		for (const field of ['Model', 'Batch Size', 'Dimensions', 'Request Timeout (Seconds)']) {
			expect(error?.message).toContain(field);
		}
		expect(error?.description).toContain('Nothing was sent and nothing was charged');
		// With these, n8n links the error of the store to this node.
		expect(error).toMatchObject({
			functionality: 'configuration-node',
			node: { name: 'Embeddings' },
		});
		expect(gateway.requests).toHaveLength(0);
	});
});
