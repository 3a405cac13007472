import type { INodeParameters } from 'n8n-workflow';
import type { WorkflowJson } from '../harness/workflow';
import { itemsOf } from '../n8n/owner';
import { startPostgres } from '../n8n/postgres';
import { openStage, type Stage } from './support/stage';
import { byId, core, embeddings, langchain, type Node } from '../support/workflows/workflows';

const documents = [
	'The boat sails over the sea at dawn',
	'A recipe for tomato soup with basil',
	'How to repair a bicycle chain',
	'The cat sleeps on the warm windowsill',
	...Array.from({ length: 116 }, (_, index) => `Filler ${index} about nothing much`),
];

describe('vector stores with Embeddings Model Gateway', () => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await openStage();
	});
	afterAll(async () => await stage.close());

	/** Inserts the documents, and asks for the one that is nearest to a question. */
	const workflowWith = (
		type: string,
		of: INodeParameters,
		credentials?: Node['credentials'],
	): WorkflowJson => {
		const store = (name: string, parameters: INodeParameters) => ({
			...langchain(name, type, { ...of, ...parameters }, 1.3),
			credentials,
		});
		const loader = { jsonMode: 'expressionData', jsonData: '={{ $json.text }}' };
		const list = { mode: 'raw', jsonOutput: JSON.stringify({ texts: documents }) };
		const split = { fieldToSplitOut: 'texts', options: { destinationFieldName: 'text' } };
		const question = { mode: 'load', prompt: 'repairing the chain of my bicycle', topK: 2 };
		const to = (node: string, kind = 'main') => [{ node, type: kind as 'main', index: 0 }];
		return {
			name: `Question to ${type}`,
			nodes: [
				core('Start', 'manualTrigger'),
				core('Texts', 'set', list, 3.4),
				core('One Item per Text', 'splitOut', split),
				store('Insert', { mode: 'insert' }),
				core('Once', 'limit'),
				store('Ask', question),
				embeddings({ model: byId('embed-1') }),
				langchain('Loader', 'documentDefaultDataLoader', loader, 1.1),
			],
			connections: {
				Start: { main: [to('Texts')] },
				Texts: { main: [to('One Item per Text')] },
				'One Item per Text': { main: [to('Insert')] },
				Insert: { main: [to('Once')] },
				Once: { main: [to('Ask')] },
				Embeddings: {
					ai_embedding: [[...to('Insert', 'ai_embedding'), ...to('Ask', 'ai_embedding')]],
				},
				Loader: { ai_document: [to('Insert', 'ai_document')] },
			},
		};
	};

	const ask = async (workflow: WorkflowJson) => {
		const before = stage.gateway.requests.length;
		const execution = await stage.run(workflow);
		expect(execution.data.resultData.error).toBeUndefined();
		const found = itemsOf(execution, 'Ask').map(({ json }) => json);
		expect(found).toMatchObject([
			{ document: { pageContent: 'How to repair a bicycle chain' } },
			{ document: expect.anything() },
		]);
		// Two batches for 120 documents, and one request for the question.
		expect(stage.gateway.requests.length - before).toBe(3);
		return execution;
	};

	it("n8n's in-memory vector store finds the right document, and its log shows the embedded texts", async () => {
		const memoryKey = byId('documents');
		const { data } = await ask(workflowWith('vectorStoreInMemory', { memoryKey }));
		const runs = data.resultData.runData.Embeddings;
		const shown = JSON.stringify(runs.map(({ inputOverride }) => inputOverride?.ai_embedding));
		expect(shown).toContain('A recipe for tomato soup');
		expect(shown).toContain('repairing the chain of my bicycle');
	});

	it('a vector store in PostgreSQL (pgvector) finds the right document', async () => {
		const postgres = await startPostgres();
		try {
			const credential = await stage.owner.createCredentialOf('postgres', postgres.credential);
			await ask(
				workflowWith('vectorStorePGVector', { tableName: 'documents' }, { postgres: credential }),
			);
			await stage.owner.request('DELETE', `/credentials/${credential.id}`);
		} finally {
			await postgres.stop();
		}
	});
});
