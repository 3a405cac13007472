import type { IWorkflowSettings } from 'n8n-workflow';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readExample, settingsOf } from '../demo/example';
import { startGateway, type Gateway } from '../gateway';
import { sampleVideo } from '../engine/support/samples';
import { packInto } from '../support/packed';
import { Editor } from './support/editor';
import { withCredential } from './support/examples';
import { startN8n, type N8n } from './support/n8n';
import { Orders, hashOf, type Order } from './support/orders';
import { expectNoKeyIn } from './support/secrets';
import { Owner, itemsOf, type CredentialReference } from './support/owner';
import { core, startedBy, waitForVideo } from './support/workflows';

const parkedVideos = 'parked-videos.json';
const products = settingsOf(readExample(parkedVideos)).products as Array<{
	product: string;
	prompt: string;
}>;

describe('waits for videos in an n8n that is killed', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-park-'));
	const filesFolder = path.join(folder, '.n8n-files');
	let gateway: Gateway;
	let n8n: N8n;
	let owner: Owner;
	let credential: CredentialReference;
	let orders: Orders;
	let parked: Order;
	let forgotten: Order;
	let interrupted: Order;
	let held: Order;

	beforeAll(async () => {
		gateway = await startGateway({ jobSeconds: Infinity, render: async () => await sampleVideo() });
		orders = new Orders(gateway, filesFolder);
		n8n = await startN8n({ tarball: packInto(folder).tarball, folder });
		owner = await Owner.of(n8n);
		credential = await owner.createCredential(gateway);
	}, 180_000);
	afterAll(async () => {
		await n8n?.stop();
		await gateway?.close();
		expectNoKeyIn(folder, gateway.apiKey);
		rmSync(folder, { recursive: true, force: true });
	});

	const until = async (isSo: () => Promise<boolean> | boolean) => {
		while (!(await isSo())) await setTimeout(250);
	};
	const statusOf = async ({ id }: Pick<Order, 'id'>) => (await owner.execution(id)).status;
	const becomes = async (order: Pick<Order, 'id'>, status: string) =>
		await until(async () => (await statusOf(order)) === status);

	/** Starts what orders videos, and waits until n8n shows it so and the first video is waited for. */
	const order = async (status: string, begin: () => Promise<string>): Promise<Order> => {
		const before = gateway.jobs.list().length;
		const id = await begin();
		await until(() => gateway.jobs.list().length > before);
		const started = () => ({ id, jobs: gateway.jobs.list().slice(before) });
		await until(
			async () => orders.polls(started()).length > 0 && (await statusOf({ id })) === status,
		);
		return started();
	};

	const run = async (name: string, file = parkedVideos, settings: IWorkflowSettings = {}) => {
		const ready = await orders.example(name, file);
		const wait = ready.nodes.find(({ type }) => type.endsWith('.modelGatewayWaitForVideo'));
		Object.assign(wait?.parameters?.options ?? {}, { pollIntervalSeconds: 3 });
		const workflow = { ...withCredential(ready, credential), name };
		Object.assign((workflow.settings ??= {}), settings);
		return await owner.start(await owner.createWorkflow(workflow));
	};

	const expectAllSavedOnce = async ({ id, jobs }: Order, name: string) => {
		// Until the pass after the restart is stored, n8n takes it for crashed.
		await becomes({ id }, 'success');
		const execution = await owner.execution(id);
		const videos = jobs.map((job) => {
			const made = products.find(({ prompt }) => job.order.prompt === prompt);
			return [`${made?.product}.mp4`, hashOf(job)];
		});
		expect(videos).toHaveLength(3);
		expect(orders.saved(name)).toEqual(Object.fromEntries(videos));
		const saves = execution.data.resultData.runData['Save Video'];
		expect(saves.flatMap(({ data }) => data?.main[0] ?? [])).toHaveLength(3);
		expect(orders.charges({ id, jobs })).toEqual([1, 1, 1]);
	};

	/** Waits for a job that another execution has left behind. */
	const collect = async (id: string, name: string) => {
		const fileName = path.join(filesFolder, name, 'collected.mp4');
		const wait = waitForVideo({ jobId: id, options: { pollIntervalSeconds: 3 } }, credential);
		const save = core('Save', 'readWriteFile', { operation: 'write', fileName });
		const execution = await owner.run(startedBy('manualTrigger', wait, save));
		expect(execution).toMatchObject({ status: 'success' });
	};

	/** What the button does; n8n answers when the execution has ended. */
	const retry = async ({ id }: Order) =>
		await owner.request<{ id: string }>('POST', `/executions/${id}/retry`, { loadWorkflow: false });

	it('park as the example and the panel explain, or are held', async () => {
		const editor = await Editor.open(owner);
		parked = await order('waiting', async () => {
			await editor.importWorkflow(await orders.example('parked', parkedVideos));
			await editor.takePicture('parked');
			const panel = await editor.openNode('Wait for Video');
			expect(await panel.innerText()).toContain('Lead Still Running back to the input of this');
			await editor.takePicture('park-panel');
			await editor.closeNode();
			await editor.page.getByTestId('execute-workflow-button').click();
			const ofThis = async () => await owner.executionsOf({ id: editor.workflowId });
			await until(async () => (await ofThis()).length > 0);
			return (await ofThis())[0].id;
		});
		await editor.close();
		forgotten = await order('waiting', async () => await run('forgotten'));
		interrupted = await order('waiting', async () => await run('interrupted'));
		held = await order('running', async () => {
			const settings = { saveExecutionProgress: true };
			return await run('held', 'reference-video-to-file.json', settings);
		});
		const all = [parked, forgotten, interrupted, held];
		expect(all.map(({ jobs }) => jobs.length)).toEqual([3, 3, 3, 1]);
	});

	it('are left alone while n8n is down for long', async () => {
		const isOfInterrupted = ({ url }: { url: string }) =>
			interrupted.jobs.some(({ id }) => url.includes(id));
		const pass = gateway.fault({ route: 'task', action: 'stall', times: 3, when: isOfInterrupted });
		await until(() => pass.hits === 3);
		for (const order of [parked, forgotten]) await becomes(order, 'waiting');
		await n8n.kill();
		const asked = orders.polls().length;
		await orders.finish([parked.jobs[0], ...forgotten.jobs, ...interrupted.jobs, ...held.jobs]);
		await setTimeout(45_000);
		expect(orders.polls()).toHaveLength(asked);
		n8n = await startN8n({ folder });
		owner = await Owner.of(n8n);
	}, 240_000);

	it('end with Stop while they are parked, and a video is collected later by its id', async () => {
		const stopped = await order('waiting', async () => await run('stopped'));
		const editor = await Editor.open(owner);
		await editor.page.goto(`${editor.url}/home/executions`);
		const rows = editor.page.getByTestId('global-execution-list-item');
		const row = rows.filter({ hasText: 'stopped' });
		await row.getByTestId('stop-execution-button').click();
		await row.getByText('Canceled').waitFor();
		await editor.close();
		const asked = orders.polls(stopped).length;

		// That others go on shows that n8n has looked for parked executions since.
		await until(() => Object.keys(orders.saved('parked')).length === 1);
		await orders.finish(parked.jobs);
		await becomes(parked, 'success');
		expect(orders.polls(stopped)).toHaveLength(asked);
		expect(await statusOf(stopped)).toBe('canceled');

		await orders.finish(stopped.jobs);
		await collect(stopped.jobs[1].id, 'stopped');
		expect(orders.saved('stopped')).toEqual({ 'collected.mp4': hashOf(stopped.jobs[1]) });
		expect(orders.charges(stopped)).toEqual([1, 1, 1]);
	}, 300_000);

	it('go on when they were parked, and save each video once', async () => {
		await expectAllSavedOnce(parked, 'parked');
	}, 180_000);

	it('go on also when all videos were long finished', async () => {
		await expectAllSavedOnce(forgotten, 'forgotten');
	}, 180_000);

	it('crash in the midst of a pass, and go on with Retry', async () => {
		expect(await statusOf(interrupted)).toBe('crashed');
		expect(orders.saved('interrupted')).toEqual({});
		const { id } = await retry(interrupted);
		await expectAllSavedOnce({ ...interrupted, id }, 'interrupted');
	});

	it('crash when they were held, and the video is collected later by its id, or with Retry', async () => {
		const crashed = await owner.execution(held.id);
		expect(crashed.status).toBe('crashed');
		expect(crashed.data.resultData.error?.message).toContain('Workflow did not finish');
		expect(crashed.data.resultData.lastNodeExecuted).toBe('Wait for Video');
		expect(orders.saved('held')).toEqual({});

		// n8n shows the id because the workflow saves its progress.
		const [{ json }] = itemsOf(crashed, 'Create Video');
		const { task_id } = json.output as { task_id: string };
		await collect(task_id, 'held');
		const hash = hashOf(held.jobs[0]);
		expect(orders.saved('held')).toEqual({ 'collected.mp4': hash });

		await retry(held);
		expect(orders.saved('held')).toEqual({ 'collected.mp4': hash, 'walk-on-the-beach.mp4': hash });
		expect(orders.charges(held)).toEqual([1]);
		expect(gateway.ledger).toHaveLength(gateway.jobs.list().length);
		expect(gateway.jobs.list()).toHaveLength(13);
	});
});
