import type { IWorkflowBase, IWorkflowSettings } from 'n8n-workflow';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startGateway, type Gateway } from '../gateway';
import { startDatabase } from '../n8n/database';
import { chargesOf } from '../n8n/kills/charges';
import { callWebhook, Owner } from '../n8n/owner';
import { startQueue } from '../n8n/queue';
import { deliveriesOf, startSink, type Sink } from '../n8n/sink';
import { videoWorkflow } from '../n8n/videoWorkflows';
import { packInto } from '../support/packed';
import { titledVideos } from '../support/samples';
import { within } from '../support/until';
import { shared } from './support/shared';

type Mode = 'single' | 'queue';

interface Case {
	name: string;
	mode: Mode;
	settings: IWorkflowSettings;
	whileWaiting: string;
}

/** Every combination of what n8n saves, of how n8n runs, and of what the execution does while it waits. */
const cases: Case[] = (['single', 'queue'] as const).flatMap((mode) =>
	(['all', 'none'] as const).flatMap((saveDataSuccessExecution) =>
		(['all', 'none'] as const).flatMap((saveDataErrorExecution) =>
			[true, false].flatMap((saveExecutionProgress) =>
				['park', 'hold'].map((whileWaiting) => {
					const settings = {
						saveDataSuccessExecution,
						saveDataErrorExecution,
						saveExecutionProgress,
					};
					const name = [mode, ...Object.values(settings), whileWaiting].join('-');
					return { name, mode, settings, whileWaiting };
				}),
			),
		),
	),
);

/** Seconds in which n8n looks for parked executions twice, on a busy machine. */
const patience = 240;

/** All executions wait at the same time, because n8n looks for parked ones once a minute. */
describe('settings about what n8n saves', () => {
	let folder: string;
	let gateway: Gateway;
	let sink: Sink;
	const owners = {} as Record<Mode, Owner>;
	const workflows = new Map<Case, IWorkflowBase>();
	const ends: Array<() => Promise<void>> = [];

	beforeAll(async () => {
		folder = await mkdtemp(path.join(tmpdir(), 'n8n-saving-'));
		gateway = await startGateway(titledVideos(10));
		sink = await startSink();
		ends.push(async () => await gateway.close());
		ends.push(async () => await sink.close());
		owners.single = await Owner.of(shared);
		owners.queue = await Owner.of(await queueMode());
		for (const mode of ['single', 'queue'] as const) {
			const credential = await owners[mode].createCredential(gateway);
			for (const one of cases.filter((each) => each.mode === mode)) {
				const { name, settings, whileWaiting } = one;
				const json = videoWorkflow(
					name,
					{ credential, sinkUrl: sink.url },
					{ settings, whileWaiting },
				);
				workflows.set(one, await owners[mode].createPublished(json));
				await callWebhook(owners[mode].url, name, { name });
			}
		}
		await within(() => sink.deliveries.length >= cases.length, patience);
	}, 600_000);

	afterAll(async () => {
		for (const end of ends.reverse()) await end();
		await rm(folder, { recursive: true });
	});

	/** A main process, and a worker. */
	const queueMode = async () => {
		const database = await startDatabase();
		ends.push(async () => await database.stop());
		const { tarball } = packInto(folder);
		const queue = await startQueue({ tarball, folder, env: database.env });
		ends.push(async () => await queue.close());
		await queue.startWorker({ concurrency: cases.length });
		return queue;
	};

	it.each(cases)('$name: the video is charged once, and delivered once', ({ name }) => {
		expect(chargesOf(gateway, name)).toBe(1);
		expect(deliveriesOf(gateway, sink.deliveries, name)).toBe(1);
	});

	it.each(cases)('$name: n8n keeps the execution only if the settings say so', async (one) => {
		const workflow = workflows.get(one) as IWorkflowBase;
		const isSaved = one.settings.saveDataSuccessExecution === 'all';
		const statuses = async () =>
			(await owners[one.mode].executionsOf(workflow)).map(({ status }) => status);
		await within(async () => (await statuses()).every((status) => status === 'success'), 30);
		expect(await statuses()).toEqual(isSaved ? ['success'] : []);
	});
});
