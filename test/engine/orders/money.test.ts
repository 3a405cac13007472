import type { IDataObject, INode } from 'n8n-workflow';
import { type Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { chain, createReferenceVideo, credentialFor } from '../../support/workflows/workflows';
import { eventsOf } from '../../support/workflows/log';
import { withGateway } from '../../support/http/withGateway';

/** Ten orders. A fault chooses its order by the prompt. */
const prompts = Array.from({ length: 10 }, (_, index) => `Order ${index}`);

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
	const loseResponse = { route: 'referenceVideoCreate', action: 'reset', accepted: true } as const;

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
});
