import type { INodeExecutionData } from 'n8n-workflow';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
	processedItems,
	recoverExecution,
	resumeExecution,
	resumeToEnd,
	retryExecution,
	storedExecution,
	storeFile,
} from '../../harness';
import { withGateway } from '../../support/http/withGateway';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { fixturesFolder, type StoredFixture } from '../../support/data/executionFixtures';
import { titledVideo } from '../../support/data/titledVideo';
import { credentialFor } from '../../support/workflows/workflows';

/** Executions that earlier releases stored, in several versions of n8n. `npm run capture` adds those of this one. */
describe('an execution that an earlier release stored', () => {
	const { gateway } = withGateway({ jobSeconds: Infinity });

	// This process has run for a minute, so the node need not wait until n8n has looked for crashed executions.
	beforeEach(() => void jest.spyOn(performance, 'now').mockReturnValue(60_000));
	afterEach(() => jest.restoreAllMocks());

	/** Each fixture comes from an n8n of its own, where the IDs begin at 1. In one process, they are unique. */
	const read = (file: string): StoredFixture => ({
		...(JSON.parse(readFileSync(path.join(fixturesFolder, file), 'utf8')) as StoredFixture),
		id: file,
	});

	/** Stores the files that the execution had downloaded, which n8n keeps outside its data. */
	const storeFiles = async (value: unknown, { jobs }: StoredFixture): Promise<void> => {
		if (typeof value !== 'object' || value === null) return;
		const { json, binary } = value as Partial<INodeExecutionData>;
		const { prompt = '' } = jobs.find(({ id }) => id === json?.job_id) ?? {};
		for (const { id } of Object.values(binary ?? {}))
			if (id) await storeFile(id, titledVideo(prompt));
		for (const part of Object.values(value)) await storeFiles(part, { jobs } as StoredFixture);
	};

	const files = readdirSync(fixturesFolder);
	const isOpen = (file: string) => file.endsWith('-open.json');

	it.each(files.filter(isOpen))(
		'does not place an order again that an earlier release placed: %s',
		async (file) => {
			const fixture = read(file);
			const stored = await storedExecution(fixture, { credentials: credentialFor(gateway) });
			const create = fixture.workflowData.nodes.find(({ name }) => name === 'Create');
			processedItems.load(fixture.workflowData.id, create?.id ?? '', fixture.orders ?? []);
			const ended = ['Start', 'List', 'Each'];
			const run = await retryExecution(recoverExecution(stored, { ended, begun: 'Create' }));
			expect(run.data.resultData.error?.message).toContain('This order was sent before');
			expect(gateway.ledger).toEqual([]);
		},
	);

	it.each(files.filter((file) => !isOpen(file)))(
		'delivers all videos of an execution that an earlier release stored: %s',
		async (file) => {
			const fixture = read(file);
			const { jobs } = fixture;
			for (const { id, kind, prompt } of jobs) earlierJob(gateway, kind, titledVideo(prompt), id);
			const stored = await storedExecution(fixture, { credentials: credentialFor(gateway) });
			await storeFiles(stored.data.executionData?.contextData, fixture);

			const isParked = fixture.status === 'waiting';
			const first = isParked ? await resumeExecution(stored) : await retryExecution(stored);
			// The videos that Retry has ordered are not finished yet.
			const ordered = gateway.jobs.list().slice(jobs.length);
			for (const { id, order } of ordered) gateway.jobs.complete(id, titledVideo(order.prompt));
			const run = await resumeToEnd(first);

			expect(run.data.resultData.error).toBeUndefined();
			expect(run.status).toBe('success');
			const files = await Promise.all(
				run.items('After').map(async (item) => await run.binary(item)),
			);
			const titles = [
				...jobs.map(({ prompt }) => prompt),
				...ordered.map(({ order }) => order.prompt),
			];
			expect(files).toEqual(titles.map((title) => Buffer.from(titledVideo(title))));
			// Only the order that was refused then is placed now.
			expect(gateway.ledger.map(({ job }) => job)).toEqual(ordered.map(({ id }) => id));
			expect(ordered).toHaveLength(file.endsWith('-failed.json') ? 1 : 0);
		},
	);
});
