import type { IDataObject } from 'n8n-workflow';
import { resumeExecution, resumeToEnd, retryExecution, type WorkflowRun } from '../../harness';
import { sha256 } from '../../support/data/sha256';
import { mp4Of } from '../../support/files/boxes';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { charged, create, refuseNext, run, withOrders, world } from '../../support/orders';
import { chain, waitForVideo } from '../../support/workflows/workflows';

withOrders({ jobSeconds: Infinity });

/** The data that the nodes keep in an execution may come from a newer release, or be damaged. */
describe('stored data that this release cannot read', () => {
	const video = mp4Of(1_000);

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
		const park = async () => {
			const jobs = earlierTasks(world.gateway, 2);
			const input = jobs.map(({ id }) => ({ json: { task_id: id } }));
			const parked = await run(chain(waitForVideo()), [], { input });
			world.gateway.jobs.complete(jobs[0].id, video);
			const again = await resumeExecution(parked);
			expect(again.status).toBe('waiting');
			world.gateway.jobs.complete(jobs[1].id, video);
			return { again, ids: jobs.map(({ id }) => id) };
		};

		const delivers = async ({ again, ids }: Awaited<ReturnType<typeof park>>) => {
			const end = await resumeToEnd(again);
			expect(end.status).toBe('success');
			expect(end.items('Wait for Video').map(({ json }) => json.job_id)).toEqual(ids);
			for (const item of end.items('Wait for Video')) {
				expect(sha256(await end.binary(item))).toBe(sha256(video));
			}
			expect(charged()).toBe(0);
			expect(contextOf(end, 'node:Wait for Video')).toEqual({ form: 2, waits: {} });
		};

		it.each(damages)(
			'starts a wait again from its input, and delivers all videos: %s',
			async (_, damage) => {
				const parked = await park();
				damage(contextOf(parked.again, 'node:Wait for Video'));
				await delivers(parked);
			},
		);
	});

	describe('an order', () => {
		const damagedJournal: (typeof damages)[number] = [
			'an order without a state',
			({ orders }) =>
				void Object.assign((orders as IDataObject).journal as IDataObject, { known: { a: {} } }),
		];

		it.each([...damages, damagedJournal])(
			'places no order on Retry, and leaves the unreadable record as it is: %s',
			async (_, damage) => {
				refuseNext('a reference video', 'Two');
				const failed = await run(chain(create('a reference video')), ['One', 'Two']);
				expect([failed.status, charged()]).toEqual(['error', 1]);
				failed.data = structuredClone(failed.data);
				const memory = contextOf(failed, 'node:Create');
				const whole = structuredClone(memory);
				damage(memory);
				const retried = await retryExecution(failed);
				expect(retried.errorOf('Create')?.message).toBe(
					'Item 0: Nothing was sent, because the record of what earlier tries of this execution ordered cannot be read',
				);
				expect(retried.errorOf('Create')?.description).toContain('Install the newest version');
				expect(charged()).toBe(1);
				expect(contextOf(retried, 'node:Create')).toEqual(memory);

				// A release that can read the record places the rest.
				const stored = contextOf(retried, 'node:Create');
				for (const key of Object.keys(stored)) delete stored[key];
				Object.assign(stored, whole);
				const again = await retryExecution(retried);
				expect(again.errorOf('Create')).toBeUndefined();
				expect(charged()).toBe(2);
			},
		);
	});
});

// A Retry recognizes an order by the text of its request.
it('sends the fields of a request in the order in which release 1.0 did', async () => {
	const extraBody = '{ "input": { "prompt": "Waves", "negative_prompt": "rain" } }';
	const node = create('a reference video', {
		mediaJson: '[{ "type": "first_frame", "url": "https://example.com/a.png" }]',
		options: { resolution: '720P', duration: undefined, skipChecks: true, extraBody },
	});
	await run(chain(node));
	const body = world.gateway.requests.find(({ route }) => route === 'referenceVideoCreate')?.body;
	expect(Object.keys(body as object)).toEqual(['model', 'input', 'parameters']);
	expect(Object.keys((body as { input: object }).input)).toEqual([
		'media',
		'prompt',
		'negative_prompt',
	]);
});
