import type { IDataObject } from 'n8n-workflow';
import { EngineProcess, retryExecution, type WorkflowRun } from '../../harness';
import { picture } from '../../support/data/samples';
import {
	byId,
	chain,
	createReferenceVideo,
	modelGateway,
	inGroups,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const { gateway, media, runWorkflow } = withGateway({ jobSeconds: Infinity });

const create = (
	parameters: IDataObject = {},
	{ onError }: { onError?: 'continueRegularOutput' } = {},
) => createReferenceVideo({ preview: true, ...parameters }, { onError });

const run = async (
	nodes: Parameters<typeof chain>,
	prompts = ['One', 'Two'],
	more: IDataObject = {},
): Promise<WorkflowRun> =>
	await runWorkflow(chain(...nodes), {
		input: prompts.map((prompt) => ({ json: { prompt, media, ...more } })),
		mode: 'trigger',
	});

const jsonOf = (result: WorkflowRun, node: string) => result.items(node).map(({ json }) => json);

describe('Preview (Order Nothing)', () => {
	it('uses up no key and no limit that items ordered in the same run need', async () => {
		const options = inGroups({ duration: 2, maxOrders: 1, orderKey: '={{ $json.prompt }}' });
		const node = create({ preview: '={{ $itemIndex !== 1 }}', options });
		const result = await run([node], ['Same', 'Same', 'Other']);
		expect(jsonOf(result, 'Create')).toMatchObject([
			{ would: 'skip' },
			{ output: { task_id: expect.any(String) } },
			{ would: 'fail' },
		]);
		expect(gateway.ledger).toHaveLength(1);
	});

	it('shows in a worker what the orders of others have left of the limit of a day', async () => {
		const options = inGroups({ duration: 2, maxOrdersPerDay: 2 });
		const inWorker = async (preview: boolean, count: number) =>
			await runWorkflow(chain(create({ preview, options })), {
				mode: 'trigger',
				inWorker: true,
				input: Array.from({ length: count }, () => ({ json: { media } })),
			});
		await inWorker(false, 1);
		const preview = async () => jsonOf(await inWorker(true, 2), 'Create');
		expect(await new EngineProcess().run(preview)).toMatchObject([
			{ would: 'order' },
			{ would: 'fail' },
		]);
		expect(gateway.ledger).toHaveLength(1);
	});

	it('shows on Retry the jobs that it would reuse, and leaves their record as it was', async () => {
		const fault = gateway.fault({
			route: 'models',
			action: 'error',
			status: 400,
			code: 'invalid_request',
		});
		const last = modelGateway(
			{ resource: 'model', operation: 'getAll' },
			{ name: 'Deliver', executeOnce: true },
		);
		const refusal = gateway.fault({
			route: 'referenceVideoCreate',
			action: 'error',
			status: 400,
			code: 'invalid_request',
			when: ({ body }) => JSON.stringify(body).includes('Two'),
		});
		const failed = await run([create({ preview: false }), last]);
		expect(failed.status).toBe('error');
		expect(gateway.ledger).toHaveLength(1);
		const { job } = gateway.ledger[0];
		for (let times = 0; times < 2; times++) {
			const shown = await retryExecution(failed, { workflow: chain(create(), last) });
			expect(jsonOf(shown, 'Create')).toMatchObject([
				{ would: 'reuse', job_id: job },
				{ would: 'order' },
			]);
		}
		fault.remove();
		refusal.remove();
		const retried = await retryExecution(failed);
		expect(retried.status).toBe('success');
		expect(gateway.ledger).toHaveLength(2);
	});

	it.each(['={{ undefined }}', '={{ null }}', "={{ '' }}", "={{ 'yes' }}", '={{ 0 }}'])(
		'places no order when Preview is neither true nor false: %s',
		async (preview) => {
			const result = await run([create({ preview })]);
			expect(result.errorOf('Create')?.message).toMatch(/Preview .* must be true or false/);
			expect(gateway.requests).toEqual([]);
		},
	);

	it('shows the name, type and size of a file in a request', async () => {
		const data = {
			data: Buffer.from(picture('red')).toString('base64'),
			mimeType: 'image/png',
			fileName: 'a.png',
		};
		const edit = modelGateway(
			{
				resource: 'image',
				operation: 'edit',
				model: byId('image-1'),
				preview: true,
				prompt: '={{ $json.prompt }}',
			},
			{ name: 'Create' },
		);
		const result = await runWorkflow(chain(edit), {
			input: [{ json: { prompt: 'Draw' }, binary: { data } }],
		});
		expect(jsonOf(result, 'Create')).toMatchObject([
			{
				would: 'order',
				request: {
					body: {
						model: 'image-1',
						prompt: 'Draw',
						image: { file_name: 'a.png', mime_type: 'image/png', bytes: picture('red').length },
					},
				},
			},
		]);
		expect(result.hintsOf('Create')).toEqual([
			expect.stringContaining('1 image would be ordered.'),
		]);
		expect(gateway.requests).toEqual([]);
	});
});
