import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { createHash } from 'node:crypto';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	waitForVideo,
} from '../../test/support/workflows/workflows';
import { deleteFiles, runWorkflow, storedFiles, type WorkflowRun } from '../../test/harness';
import type { Account } from './account';
import { promptOf, sampleOf, type Order } from './orders';
import type { Service } from './service';

/** A job whose ID is in an output. */
interface KnownJob {
	id: string;
	order: Order;
	json: IDataObject;
}

const onError = 'continueErrorOutput';
/** For half of the creates: n8n runs the whole node again when its first item fails. */
const retries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
/** How often a user waits again for a video whose download failed. */
const maxCollections = 3;

/** Some orders, from their creation to their files, as a user would run them. */
export class Batch {
	constructor(
		private readonly service: Service,
		private readonly account: Account,
	) {}

	async run(orders: Order[]): Promise<void> {
		this.account.began(orders);
		const made = await Promise.all([
			this.create(orders.filter(({ kind }) => kind === 'task')),
			this.create(orders.filter(({ kind }) => kind === 'video')),
		]);
		let left = made.flat().sort((a, b) => a.order.number - b.order.number);
		for (let times = 0; left.length > 0 && times <= maxCollections; times++) {
			if (times > 0) this.account.collectedAgain += left.length;
			left = await this.collect(left);
		}
		for (const { id } of left)
			this.account.lost.push(`${id}: not delivered after ${maxCollections} more waits`);
		this.account.ended(orders);
	}

	private async create(orders: Order[]): Promise<KnownJob[]> {
		if (orders.length === 0) return [];
		const { portrait } = this.service;
		const settings = { onError, ...(orders[0].number % 2 === 0 && retries) } as const;
		const node =
			orders[0].kind === 'task'
				? createReferenceVideo({}, settings)
				: modelGateway(videoParameters, { name: 'Create', ...settings });
		const media = [{ type: 'reference_image', url: portrait }];
		const run = await this.execute(
			node,
			orders.map((order) => ({ prompt: promptOf(order), media })),
		);
		const [made, failed] = outputsOf(run, 'Create');
		this.checkAllAreThere([...made, ...failed], orders);
		for (const { json } of failed) this.account.notCreated(json);
		return made.map(({ json, pairedItem }) => {
			// A response that was cut off may contain no more than the ID.
			const output = json.output as IDataObject | undefined;
			const id = String(output?.task_id ?? json.task_id ?? json.id);
			this.account.known.add(id);
			return { id, json, order: orders[indexOf(pairedItem)] };
		});
	}

	/** Waits for the jobs and checks their files. @returns the jobs that ended in an error */
	private async collect(jobs: KnownJob[]): Promise<KnownJob[]> {
		const run = await this.execute(
			waitForVideo({}, { onError }),
			jobs.map(({ json }) => json),
		);
		const [finished, failed] = outputsOf(run, 'Wait for Video');
		this.checkAllAreThere([...finished, ...failed], jobs);
		for (const item of finished) await this.checkFile(run, item, jobs[indexOf(item.pairedItem)]);

		const stored = await storedFiles(run);
		this.account.strayFiles += stored.length - 2 * finished.length;
		await deleteFiles(run);

		return failed.map(({ json, pairedItem }) => {
			const job = jobs[indexOf(pairedItem)];
			this.account.failed(json);
			const { job: named } = json.details as { job?: { id: string } };
			if (named?.id !== job.id) this.account.lost.push(`${job.id}: its error does not name it`);
			return job;
		});
	}

	private async checkFile(
		run: WorkflowRun,
		item: INodeExecutionData,
		{ id, order }: KnownJob,
	): Promise<void> {
		const hash = createHash('sha256');
		for await (const piece of await run.binaryStream(item)) hash.update(piece as Buffer);
		const named = item.json.task_id ?? item.json.id;
		const isIntact = hash.digest('hex') === sampleOf(this.service.hashes, order.number);
		if (named === id && isIntact) this.account.delivered++;
		else {
			const { bytes } = item.binary?.data ?? {};
			this.account.wrongFiles.push(`${id}: an item of ${String(named)} with ${bytes} bytes`);
		}
	}

	private async execute(
		node: Parameters<typeof chain>[0],
		input: IDataObject[],
	): Promise<WorkflowRun> {
		// With this setting a wait keeps running, where n8n would otherwise store and resume it.
		const settings = { saveExecutionProgress: true };
		const run = await runWorkflow(
			{ ...chain(node), settings },
			{
				credentials: credentialFor(this.service),
				input: input.map((json) => ({ json })),
				binaryDataMode: 'filesystem',
			},
		);
		const error = run.errorOf(node.name);
		if (error) throw new Error(`${node.name} failed: ${error.message} ${error.description}`);
		return run;
	}

	/** Each item must end exactly once: in an output, or in an error. */
	private checkAllAreThere(items: INodeExecutionData[], orders: unknown[]): void {
		const ended = items.map(({ pairedItem }) => indexOf(pairedItem)).sort((a, b) => a - b);
		if (ended.join() === [...orders.keys()].join()) return;
		this.account.lost.push(`of ${orders.length} items, these ended: ${ended.join(', ')}`);
	}
}

const videoParameters = {
	resource: 'video',
	operation: 'create',
	model: byId('vid-3.1'),
	prompt: '={{ $json.prompt }}',
};

function outputsOf(run: WorkflowRun, node: string): [INodeExecutionData[], INodeExecutionData[]] {
	return [run.items(node, { output: 0 }), run.items(node, { output: 1 })];
}

function indexOf(pairedItem: INodeExecutionData['pairedItem']): number {
	return (pairedItem as { item: number }).item;
}
