import { retryExecution } from '../../harness';
import { withGateway } from '../../support/http/withGateway';
import { nodeFor, run as runNode, type Fields } from '../../support/nodes';
import type { NodeSettings } from '../../support/workflows/workflows';

describe('embeddings', () => {
	const { gateway } = withGateway({});

	const run = async (inputs: unknown[], options: Fields = {}, settings: NodeSettings = {}) =>
		await runNode(
			gateway,
			nodeFor('embedding.create', { input: '={{ $json.text }}', options }, settings),
			{ input: inputs.map((text) => ({ json: { text } as Fields })) },
		);
	const texts = (count: number) =>
		Array.from({ length: count }, (_, index) => `Text number ${index}`);
	describe('input from Extra Body', () => {
		const sent = () => gateway.requests.map(({ body }) => (body as { input: unknown }).input);
		const embedding = expect.any(Array);

		it('sends text from Extra Body in one request per item, even when the texts are equal', async () => {
			const options = { extraBody: '={{ { input: $json.text } }}' };
			const items = (await run(['one', 'one', 'two'], options)).items('Node');
			expect(sent()).toEqual(['one', 'one', 'two']);
			expect(items.map(({ json }) => json)).toMatchObject(Array(3).fill({ embedding }));
			expect(items[1].json.embedding).toEqual(items[0].json.embedding);
			expect(items[2].json.embedding).not.toEqual(items[0].json.embedding);
		});

		it('sends a list from Extra Body in one request, whatever the batch size', async () => {
			const options = { batchSize: 1, extraBody: { input: texts(3) } };
			const [{ json }] = (await run(['unused'], options)).items('Node');
			expect(sent()).toEqual([texts(3)]);
			expect(json.embeddings).toEqual(Array(3).fill(embedding));
		});
	});

	it.each([
		['model_not_found', 'model'],
		['unknown_value', 'encoding_format'],
	])('does not split a batch after %s, which no single text caused', async (code, param) => {
		gateway.fault({
			route: 'embedding',
			action: 'answer',
			times: Infinity,
			status: 400,
			body: JSON.stringify({ error: { message: 'No such thing', code, param } }),
		});
		const result = await run(texts(40), {}, { onError: 'continueErrorOutput' });
		expect(result.items('Node', { output: 1 })).toHaveLength(40);
		expect(gateway.requests).toHaveLength(1);
	});

	it('fails items whose vectors differ in length from those of an earlier request of the run', async () => {
		const bodyOf = (length: number, count: number) =>
			JSON.stringify({ data: Array.from({ length: count }, () => new Array(length).fill(0.5)) });
		gateway.fault({ route: 'embedding', action: 'answer', body: bodyOf(4, 100) });
		gateway.fault({ route: 'embedding', action: 'answer', body: bodyOf(6, 50) });
		const settings = { onError: 'continueErrorOutput' } as const;
		const result = await run(texts(150), { parallelRequests: 1 }, settings);
		expect(result.items('Node', { output: 0 })).toHaveLength(100);
		const failed = result.items('Node', { output: 1 });
		expect(failed).toHaveLength(50);
		expect(failed[0].json.error).toContain('has vectors of 4 and of 6 numbers');
	});

	it('charges each good text once when batch sizes differ by item and a text is refused', async () => {
		const inputs = ['one', 'two', 'bad [blocked] text', 'three'];
		const batchSize = '={{ $itemIndex === 0 ? 1 : 10 }}';
		await run(inputs, { batchSize }, { onError: 'continueErrorOutput' });
		expect(gateway.ledger).toHaveLength(3);
		const sent = gateway.requests
			.filter(({ status }) => status === 200)
			.flatMap(({ body }) => (body as { input: string[] }).input);
		expect(sent.sort()).toEqual(['one', 'three', 'two']);
	});

	describe('a list longer than the batch size', () => {
		const list = texts(13);
		const inputOf = ({ body }: { body?: unknown }) => (body as { input: string[] }).input;

		it.each([
			[2, 2],
			[1, 5],
			[3, 100],
		])(
			'keeps the vectors of a list when a request is refused: batch size %d, then %d in the Retry',
			async (batchSize, later) => {
				const [whole] = (await run([list])).items('Node');
				const charges = gateway.ledger.length;
				const refusal = gateway.fault({
					route: 'embedding',
					action: 'error',
					status: 400,
					code: 'invalid_parameter',
					times: Infinity,
					when: (request) => inputOf(request).includes(list[6]),
				});
				// The Retry must not send the list again together with another item.
				const failed = await run([list, 'One more'], { batchSize, parallelRequests: 1 });
				expect(failed.status).toBe('error');
				expect(gateway.ledger.length).toBeGreaterThan(charges);

				refusal.remove();
				const workflow = structuredClone(failed.workflowData);
				const embed = workflow.nodes.at(-1);
				if (embed) embed.parameters.options = { batchSize: later };
				const [item] = (await retryExecution(failed, { workflow })).items('Node');
				expect(item.json.embeddings).toEqual(whole.json.embeddings);
				const accepted = gateway.requests.filter(({ status }) => status === 200).flatMap(inputOf);
				expect(accepted.slice(list.length).sort()).toEqual(['One more', ...list.toSorted()]);
				const tokens = gateway.ledger.slice(charges, -1).map(({ quantity }) => quantity);
				expect((item.json.usage as { total_tokens: number }).total_tokens).toBe(
					tokens.reduce((sum, quantity) => sum + quantity),
				);
			},
		);
	});

	it('does not request a list again when one of its responses broke off', async () => {
		const list = texts(4);
		const isIn = (text: string) => (request: { body?: unknown }) =>
			JSON.stringify(request.body).includes(`"${text}"`);
		const route = 'embedding';
		const refusal = { action: 'error', status: 400, code: 'invalid_parameter' } as const;
		gateway.fault({ route, ...refusal, when: isIn(list[0]) });
		gateway.fault({ route, action: 'cut', after: '50%', when: isIn(list[2]) });
		const failed = await run([list], { batchSize: 2 });
		expect(failed.errorOf('Node')?.message).toContain('broke off');
		expect((await retryExecution(failed)).status).toBe('error');
		expect(gateway.requests).toHaveLength(2);
	});

	it('refuses vectors of another length than Dimensions, and Dimensions of 0', async () => {
		const data = [{ index: 0, embedding: [1, 2] }];
		gateway.fault({ route: 'embedding', action: 'answer', body: JSON.stringify({ data }) });
		expect((await run(['one'], { dimensions: 3 })).errorOf('Node')?.message).toContain(
			'has vectors of 2 numbers although dimensions is 3',
		);
		expect((await run(['one'], { dimensions: 0 })).errorOf('Node')?.message).toContain(
			'Dimensions must be a whole number of at least 1 (it is 0)',
		);
	});
});
