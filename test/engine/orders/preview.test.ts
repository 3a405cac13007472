import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { retryExecution, runWorkflow, type WorkflowRun } from '../../harness';
import { picture } from '../../support/data/samples';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	waitForVideo,
	inGroups,
} from '../../support/workflows/workflows';
import { usedBefore } from '../../support/workflows/videoOrders';
import { withGateway } from '../../support/http/withGateway';

let gateway: Gateway;
let media: IDataObject[];

withGateway({ jobSeconds: Infinity }, (world) => void ({ gateway, media } = world));

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
		credentials: credentialFor(gateway),
		input: prompts.map((prompt) => ({ json: { prompt, media, ...more } })),
		mode: 'trigger',
	});

const jsonOf = (result: WorkflowRun, node: string) => result.items(node).map(({ json }) => json);

describe('Preview (Order Nothing)', () => {
	it('shows each request as it would be sent, and sends and charges nothing', async () => {
		const result = await run([create()]);
		expect(jsonOf(result, 'Create')).toEqual(
			['One', 'Two'].map((prompt) => ({
				...{
					ordered: false,
					preview: true,
					would: 'order',
					reason: 'Preview: nothing was ordered',
				},
				request: {
					method: 'POST',
					url: `${gateway.url}/wan/api/v1/services/aigc/video-generation/video-synthesis`,
					headers: {
						Accept: 'application/json',
						'Content-Type': 'application/json',
						'X-Gateway-Async': 'enable',
					},
					body: {
						model: 'beta-2.7-r2v',
						input: { prompt, media },
						parameters: { resolution: '720P', duration: 2 },
					},
				},
			})),
		);
		expect(result.hintsOf('Create')).toEqual([
			'Preview: nothing was ordered, and nothing charged. 2 videos (4 seconds in all) would be ordered. To order, turn off Preview (Order Nothing).',
		]);
		expect(gateway.requests).toEqual([]);
		expect(gateway.ledger).toEqual([]);
	});

	it('shows an item that would fail and why, and says that the node would then order nothing', async () => {
		const result = await run([
			create({ options: { duration: '={{ $json.prompt === "Two" ? 99 : 2 }}' } }),
		]);
		expect(Object.keys(jsonOf(result, 'Create')[1])[0]).toBe('reason');
		expect(jsonOf(result, 'Create')).toMatchObject([
			{ would: 'order' },
			{
				would: 'fail',
				reason: expect.stringMatching(/^Duration .* must be a whole number from 2 to 15/),
				advice: expect.stringMatching(/Nothing was sent/),
			},
		]);
		expect(result.hintsOf('Create')).toEqual([
			expect.stringMatching(
				/ 1 item would fail, so this node would order nothing\. Why: item 1: Duration [^.]*\.$/,
			),
		]);
		expect(gateway.requests).toEqual([]);
	});

	it('shows the items that an Order Key would skip, and leaves every key as it was', async () => {
		const once = { orderKey: '={{ $json.prompt }}' };
		const options = { duration: 2, once };
		await run([create({ preview: false, options })], ['One']);
		for (let times = 0; times < 2; times++) {
			const result = await run([create({ options })], ['One', 'Two', 'Two']);
			expect(jsonOf(result, 'Create')).toMatchObject([
				{ would: 'skip', reason: expect.stringMatching(usedBefore('One')) },
				{ would: 'order' },
				{ would: 'skip' },
			]);
			expect(result.hintsOf('Create')).toEqual([
				expect.stringContaining('1 video (2 seconds in all) would be ordered, 2 items skipped.'),
			]);
		}
		const releasing = { ...options, once: { ...once, releaseOrderKey: true } };
		const released = await run([create({ options: releasing })], ['One']);
		expect(jsonOf(released, 'Create')).toMatchObject([
			{ would: 'skip', reason: 'Order Key “One” would be released, and nothing ordered' },
		]);
		expect(gateway.ledger).toHaveLength(1);

		await run([create({ preview: false, options })], ['One', 'Two']);
		expect(gateway.ledger).toHaveLength(2);
	});

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
			...{ route: 'referenceVideoCreate', action: 'error', status: 400, code: 'invalid_request' },
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

	it('passes its items through Wait for Video, which sends no poll for them', async () => {
		const result = await run([create(), waitForVideo()]);
		expect(jsonOf(result, 'Wait for Video')).toMatchObject([
			{ would: 'order' },
			{ would: 'order' },
		]);
		expect(gateway.requests).toEqual([]);
	});

	it('shows the name, type and size of a file in a request', async () => {
		const data = {
			data: Buffer.from(picture('red')).toString('base64'),
			mimeType: 'image/png',
			fileName: 'a.png',
		};
		const edit = modelGateway(
			{
				...{ resource: 'image', operation: 'edit', model: byId('image-1'), preview: true },
				prompt: '={{ $json.prompt }}',
			},
			{ name: 'Create' },
		);
		const result = await runWorkflow(chain(edit), {
			credentials: credentialFor(gateway),
			input: [{ json: { prompt: 'Draw' }, binary: { data } }],
		});
		expect(jsonOf(result, 'Create')).toMatchObject([
			{
				would: 'order',
				request: {
					body: {
						...{ model: 'image-1', prompt: 'Draw' },
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
