import type { IDataObject, INode } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { earlierTasks } from '../../support/workflows/earlierJobs';
import { chain, credentialFor, waitForVideo } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

/** An expression that fails for the bad item. */
const failing = (value: string) => `={{ $json.isBad ? $('No such node').item.json.x : ${value} }}`;

const parameters: Record<string, IDataObject> = {
	jobId: { jobId: failing('$json.task_id') },
	download: { download: failing('true') },
	binaryField: { binaryField: failing('"data"') },
	fileName: { options: { fileName: failing('"a"') } },
	includeInputFields: { options: { includeInputFields: failing('true') } },
	timeoutMinutes: { options: { timeoutMinutes: failing('5') } },
	pollIntervalSeconds: { options: { pollIntervalSeconds: failing('5') } },
	maxParallelDownloads: { options: { maxParallelDownloads: failing('2') } },
};
const cases = Object.keys(parameters);
/** The item for which the expression fails. */
const bad = 1;

describe('failing expressions of Wait for Video', () => {
	let gateway: Gateway;
	let ids: string[];

	withGateway({ jobSeconds: Infinity }, (world) => void ({ gateway } = world));
	beforeEach(() => {
		ids = earlierTasks(gateway, 3).map(({ id }) => id);
		for (const id of ids) gateway.jobs.complete(id, mp4Of(1000));
	});

	const run = async (field: string, settings: Partial<INode> = {}) => {
		const node = waitForVideo(parameters[field], settings);
		// With an execution timeout, the node compares all its own timeouts with it for a hint.
		const workflow = { ...chain(node), settings: { executionOrder: 'v1', executionTimeout: 60 } };
		return await runWorkflow(workflow as ReturnType<typeof chain>, {
			credentials: credentialFor(gateway),
			input: ids.map((id, index) => ({ json: { task_id: id, isBad: index === bad } })),
		});
	};

	it.each(cases)(
		'names all known jobs in the error when the expression of %s fails for an item',
		async (field) => {
			const error = (await run(field)).errorOf('Wait for Video');
			expect(error?.message).toMatch(new RegExp(`^Item ${bad}: .*node`));
			for (const [item, id] of ids.entries()) {
				const isKnown = field !== 'jobId' || item !== bad;
				if (isKnown) expect(error?.description).toContain(`item ${item}: ${id}`);
			}
			expect(gateway.requests).toEqual([]);
		},
	);

	it.each(cases)(
		'delivers the other items on Continue On Fail when the expression of %s fails for an item',
		async (field) => {
			const result = await run(field, { onError: 'continueRegularOutput' });
			const items = result.items('Wait for Video');
			expect(items.map(({ pairedItem }) => pairedItem)).toEqual(ids.map((_, item) => ({ item })));
			for (const [item, { json }] of items.entries()) {
				if (item !== bad) {
					expect(json.job_id).toBe(ids[item]);
					continue;
				}
				const job = field === 'jobId' ? undefined : { kind: 'task', id: ids[item] };
				expect(json).toMatchObject({ error: expect.stringContaining('node') });
				expect((json.details as IDataObject).job).toEqual(job);
			}
		},
	);
});
