import type { IDataObject } from 'n8n-workflow';
import {
	resumeExecution,
	resumeToEnd,
	retryExecution,
	SimulatedTime,
	type WorkflowRun,
} from '../../harness';
import { withGateway } from '../../support/http/withGateway';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { mp4Of } from '../../support/files/boxes';
import { chain, createReferenceVideo, waitForVideo } from '../../support/workflows/workflows';
import { sha256 } from '../../support/data/sha256';

const { gateway, runWorkflow } = withGateway({ jobSeconds: Infinity });

/** The data that the nodes keep in an execution may come from a newer release, or be damaged. */
describe('stored data that this release cannot read', () => {
	const video = mp4Of(1_000);
	afterEach(() => jest.restoreAllMocks());

	const contextOf = ({ data }: WorkflowRun, key: string): IDataObject =>
		(data.executionData?.contextData as Record<string, IDataObject>)[key];

	/** Damages to what the tests below store, each in one place. */
	const damages: Array<[string, (memory: IDataObject) => void]> = [
		['from a newer release', (memory) => void (memory.form = 3)],
		['with a form that is no number', (memory) => void (memory.form = 'one')],
		...['orders', 'waits'].flatMap((part) =>
			[null, 'text', 7].map((value): [string, (memory: IDataObject) => void] => [
				`${part}: ${String(value)}`,
				(memory) => void (memory[part] = value),
			]),
		),
	];

	describe('a wait', () => {
		let time: SimulatedTime;
		beforeEach(() => void (time = new SimulatedTime()));
		afterEach(async () => await time.end());

		const park = async () => {
			const jobs = earlierTasks(gateway, 2);
			let run = await runWorkflow(chain(waitForVideo()), {
				input: jobs.map(({ id }) => ({ json: { task_id: id } })),
				mode: 'trigger',
			});
			gateway.jobs.complete(jobs[0].id, video);
			run = await resumeExecution(run);
			expect(run.status).toBe('waiting');
			gateway.jobs.complete(jobs[1].id, video);
			return { run, ids: jobs.map(({ id }) => id) };
		};

		const delivers = async ({ run, ids }: Awaited<ReturnType<typeof park>>) => {
			const end = await resumeToEnd(run);
			expect(end.status).toBe('success');
			expect(end.items('Wait for Video').map(({ json }) => json.job_id)).toEqual(ids);
			for (const item of end.items('Wait for Video')) {
				expect(sha256(await end.binary(item))).toBe(sha256(video));
			}
			expect(gateway.ledger).toEqual([]);
			expect(contextOf(end, 'node:Wait for Video')).toEqual({ form: 2, waits: {} });
		};

		it.each(damages)(
			'starts a wait again from its input, and delivers all videos: %s',
			async (_, damage) => {
				const parked = await park();
				damage(contextOf(parked.run, 'node:Wait for Video'));
				await delivers(parked);
			},
		);
	});

	describe('an order', () => {
		const failAfterOne = async () => {
			const isSecond = ({ body }: { body?: unknown }) => JSON.stringify(body).includes('Two');
			const code = 'invalid_prompt';
			gateway.fault({
				route: 'referenceVideoCreate',
				action: 'error',
				status: 400,
				code,
				when: isSecond,
			});
			const url = gateway.addMedia('a.png', new Uint8Array(8), 'image/png');
			const media = [{ type: 'reference_image', url }];
			const failed = await runWorkflow(chain(createReferenceVideo()), {
				input: ['One', 'Two'].map((prompt) => ({ json: { prompt, media } })),
			});
			expect(failed.status).toBe('error');
			expect(gateway.ledger).toHaveLength(1);
			return failed;
		};

		const damagedJournal: (typeof damages)[number] = [
			'an order without a state',
			({ orders }) =>
				void Object.assign((orders as IDataObject).journal as IDataObject, { known: { a: {} } }),
		];

		it.each([...damages, damagedJournal])(
			'places no order on Retry, and leaves the unreadable record as it is: %s',
			async (_, damage) => {
				const failed = await failAfterOne();
				failed.data = structuredClone(failed.data);
				const memory = contextOf(failed, 'node:Create');
				const whole = structuredClone(memory);
				damage(memory);
				const retried = await retryExecution(failed);
				expect(retried.errorOf('Create')?.message).toBe(
					'Item 0: Nothing was sent, because the record of what earlier tries of this execution ordered cannot be read',
				);
				expect(retried.errorOf('Create')?.description).toContain('Install the newest version');
				expect(gateway.ledger).toHaveLength(1);
				expect(contextOf(retried, 'node:Create')).toEqual(memory);

				// A release that can read the record places the rest.
				const stored = contextOf(retried, 'node:Create');
				for (const key of Object.keys(stored)) delete stored[key];
				Object.assign(stored, whole);
				const again = await retryExecution(retried);
				expect(again.errorOf('Create')).toBeUndefined();
				expect(gateway.ledger).toHaveLength(2);
			},
		);
	});
});

// A Retry recognizes an order by the text of its request.
it('sends the fields of a request in the order in which release 1.0 did', async () => {
	const node = createReferenceVideo({
		mediaJson: '[{ "type": "first_frame", "url": "https://example.com/a.png" }]',
		options: {
			resolution: '720P',
			skipChecks: true,
			extraBody: '{ "input": { "prompt": "Waves", "negative_prompt": "rain" } }',
		},
	});
	await runWorkflow(chain(node));
	const body = gateway.requests.find(({ route }) => route === 'referenceVideoCreate')?.body;
	expect(Object.keys(body as object)).toEqual(['model', 'input', 'parameters']);
	expect(Object.keys((body as { input: object }).input)).toEqual([
		'media',
		'prompt',
		'negative_prompt',
	]);
});
