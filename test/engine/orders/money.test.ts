import type { IDataObject, INode } from 'n8n-workflow';
import { startGateway, type Gateway } from '../../../gateway';
import { retryExecution, runWorkflow } from '../../harness';
import { chain, createReferenceVideo, credentialFor } from '../../support/workflows/workflows';
import { eventsOf } from '../../support/workflows/log';
import { createsOf } from '../../support/workflows/videoOrders';
import { withGateway } from '../../support/http/withGateway';

/** Ten orders. A fault chooses its order by the prompt. */
const prompts = Array.from({ length: 10 }, (_, index) => `Order ${index}`);
const isOrder = (order: number) => (request: { body?: unknown }) =>
	JSON.stringify(request.body).includes(`"Order ${order}"`);

describe('the charges for creates', () => {
	let gateway: Gateway;
	let media: IDataObject[];

	withGateway(
		{ isTimeSimulated: true, jobSeconds: 60, render: async () => new Uint8Array(0) },
		(world) => void ({ gateway, media } = world),
	);

	const tenCreates = async (settings: Partial<INode> = {}, options = {}) =>
		await runWorkflow(
			chain(createReferenceVideo({ options: { duration: 2, ...options } }, settings)),
			{
				credentials: credentialFor(gateway),
				input: prompts.map((prompt) => ({ json: { prompt, media } })),
			},
		);
	const creates = () => createsOf(gateway);
	const refuse = {
		route: 'referenceVideoCreate',
		action: 'error',
		status: 400,
		code: 'invalid_prompt',
	} as const;
	const loseResponse = { route: 'referenceVideoCreate', action: 'reset', accepted: true } as const;

	it('charges ten items ten times with Retry On Fail when the seventh fails at first', async () => {
		gateway.fault({ ...refuse, when: isOrder(6) });
		const result = await tenCreates({ retryOnFail: true, maxTries: 2, waitBetweenTries: 0 });

		expect(result.status).toBe('success');
		expect(gateway.ledger).toHaveLength(10);
		expect(creates()).toHaveLength(11);
		const ids = result
			.items('Create')
			.map(({ json }) => (json.output as { task_id: string }).task_id);
		// Each item has the job of its own order, including the orders that the second try reused.
		expect(ids.map((id) => gateway.jobs.get(id)?.order.prompt)).toEqual(prompts);
		expect(result.items('Create').map(({ pairedItem }) => pairedItem)).toEqual(
			prompts.map((_, item) => ({ item })),
		);
	});

	it('charges ten items ten times across a Retry of the failed execution, whose error names nine jobs', async () => {
		gateway.fault({ ...refuse, when: isOrder(6) });
		const failed = await tenCreates();

		const error = failed.errorOf('Create');
		expect(error?.message).toContain('Item 6: Could not create the reference video');
		const made = gateway.ledger.map(({ job }) => job);
		expect(made).toHaveLength(9);
		for (const id of made) expect(error?.description).toContain(id);

		const retried = await retryExecution(failed);
		expect(retried.status).toBe('success');
		expect(retried.items('Create')).toHaveLength(10);
		expect(gateway.ledger).toHaveLength(10);
	});

	it('places all orders on Retry when the node now asks for other videos', async () => {
		gateway.fault({ ...refuse, when: isOrder(6) });
		const failed = await tenCreates();
		const changed = chain(createReferenceVideo({ options: { duration: 3 } }));
		const retried = await retryExecution(failed, { workflow: changed });
		expect(retried.items('Create')).toHaveLength(10);
		// The user asked for other videos: all ten are ordered.
		expect(gateway.ledger).toHaveLength(19);
	});

	it('resends an order that may have been accepted only when the user chooses Send Again', async () => {
		gateway.fault({ ...loseResponse, when: isOrder(6) });
		const failed = await tenCreates({ retryOnFail: true, maxTries: 3, waitBetweenTries: 0 });
		expect(gateway.ledger).toHaveLength(10);
		expect(failed.errorOf('Create')?.message).toBe(
			'Item 6: Could not create the reference video: the connection was lost before the response arrived',
		);
		expect(failed.errorOf('Create')?.description).toContain('you could be charged twice');

		const retried = await retryExecution(failed);
		expect(retried.status).toBe('error');
		expect(gateway.ledger).toHaveLength(10);
		expect(creates()).toHaveLength(10);

		// The user has checked, and chooses Send Again.
		const resend = chain(
			createReferenceVideo({ options: { duration: 2, ifAnswerLost: 'resend' } }),
		);
		const decided = await retryExecution(retried, { workflow: resend });
		expect(decided.items('Create')).toHaveLength(10);
		expect(gateway.ledger).toHaveLength(11);
	});

	it("writes the ID of each job into n8n's log", async () => {
		const run = await tenCreates();
		const created = (await eventsOf(run)).filter(
			({ metadata }) => metadata.event === 'order created',
		);
		const jobs = created.map(({ metadata }) => metadata.jobId);
		expect(jobs.sort()).toEqual(gateway.ledger.map(({ job }) => job).sort());
	});

	it('names each item whose outcome is unknown after Stop', async () => {
		let stop = () => {};
		let arrived = 0;
		gateway.fault({
			...{ ...loseResponse, action: 'stall', times: Infinity },
			when() {
				if (++arrived === 3) stop();
				return true;
			},
		});
		const stopped = await runWorkflow(chain(createReferenceVideo()), {
			credentials: credentialFor(gateway),
			input: prompts.slice(0, 3).map((prompt) => ({ json: { prompt, media } })),
			onStart: (cancel) => void (stop = cancel),
		});
		expect(stopped.errorOf('Create')?.message).toBe('Item 0: The execution was canceled');
		expect(stopped.errorOf('Create')?.description).toContain('The same applies to items 1, 2.');
	});

	it('does not place an order again on Retry after Stop interrupted it', async () => {
		const one = chain(createReferenceVideo());
		let stop = () => {};
		const settings = {
			credentials: credentialFor(gateway),
			onStart: (cancel: () => void) => void (stop = cancel),
		};
		const pressStop = () => {
			stop();
			return true;
		};
		gateway.fault({ ...loseResponse, action: 'stall', when: pressStop });
		const stopped = await runWorkflow(one, { ...settings, input: [{ json: { media } }] });
		expect(stopped.status).toBe('canceled');
		expect(stopped.errorOf('Create')?.description).toContain('may have been accepted');

		const retried = await retryExecution(stopped, settings);
		expect(retried.errorOf('Create')?.message).toBe(
			'An earlier try was stopped before its response arrived',
		);
		expect(gateway.ledger).toHaveLength(1);
	});

	it('places no order again on Retry after Timeout Workflow ended the execution', async () => {
		gateway.fault({ ...loseResponse, action: 'stall', when: isOrder(1) });
		const workflow = chain(createReferenceVideo());
		const credentials = credentialFor(gateway);
		const timedOut = await runWorkflow(
			{ ...workflow, settings: { executionOrder: 'v1', executionTimeout: 2 } },
			{ credentials, input: prompts.slice(0, 2).map((prompt) => ({ json: { prompt, media } })) },
		);
		expect(timedOut.status).toBe('canceled');
		const [job] = gateway.ledger.flatMap((charge) => charge.job ?? []);
		const error = timedOut.errorOf('Create');
		expect(error?.message).toBe('Item 1: The execution was canceled');
		expect(error?.description).toContain('may have been accepted');
		expect(error?.description).toContain(job);

		const retried = await retryExecution(timedOut, { workflow, credentials });
		expect(retried.errorOf('Create')?.message).toBe(
			'Item 1: An earlier try was stopped before its response arrived',
		);
		expect(creates()).toHaveLength(2);
	});

	it('resends by itself the orders that certainly were not accepted', async () => {
		gateway.fault({
			...refuse,
			status: 429,
			code: 'rate_limited',
			headers: { 'retry-after': '1' },
			when: isOrder(3),
		});
		gateway.fault({ ...refuse, status: 500, code: 'upstream_error', when: isOrder(4) });
		const result = await tenCreates();
		expect(result.status).toBe('success');
		expect(gateway.ledger).toHaveLength(10);
		expect(creates()).toHaveLength(12);
	});

	it('switches to the backup URL only when the base URL does not respond', async () => {
		const primary = await startGateway({ jobSeconds: 60, render: async () => new Uint8Array(0) });
		const { url } = primary;
		const order = chain(createReferenceVideo());
		const input = [{ json: { media } }];
		const credentials = credentialFor({ url, apiKey: gateway.apiKey }, { backupUrl: gateway.url });

		primary.fault({ ...refuse, status: 500, code: 'server_error' });
		expect((await runWorkflow(order, { credentials, input })).status).toBe('error');
		expect(creates()).toHaveLength(0);

		await primary.close();
		expect((await runWorkflow(order, { credentials, input })).status).toBe('success');
		expect(gateway.ledger).toHaveLength(1);
	});
});
