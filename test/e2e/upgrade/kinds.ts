import type { IDataObject, IWorkflowBase } from 'n8n-workflow';
import { picture } from '../../support/data/samples';
import type { FaultRule, Job, RecordedRequest } from '../../../gateway';
import { titledVideo } from '../../support/data/titledVideo';
import { fetchPublished, type Owner } from '../../n8n/owner';
import type { Stage } from '../support/stage';
import { until } from '../../support/time/until';
import {
	byId,
	core,
	modelGateway,
	type NodeSettings,
	startedByWebhook,
	waitForVideo,
	withCredential,
} from '../../support/workflows/workflows';

/** How an execution is stored before its videos are finished. */
interface Kind {
	videos: number;
	/** The kind of order; by default reference videos. */
	create?: IDataObject;
	options?: IDataObject;
	wait?: IDataObject;
	/** Settings of the node Create. */
	settings?: NodeSettings;
	/** The fault that the order of the last video meets once. */
	fault?: Pick<Extract<FaultRule, { action: 'error' }>, 'status' | 'code'>;
	/** Whether its orders get no response. */
	hasNoResponse?: true;
	waitSettings?: NodeSettings;
	/** How many videos are downloaded before the execution is stored. */
	fetched?: number;
	/** Its status when it is stored. */
	status: 'waiting' | 'running' | 'error';
}

export const kinds: Record<string, Kind> = {
	task: { videos: 1, status: 'waiting' },
	video: { videos: 1, create: { resource: 'video', model: byId('vid-3.1') }, status: 'waiting' },
	'one-fetched': {
		videos: 3,
		// By default, no video is fetched before all are finished.
		waitSettings: { onError: 'continueRegularOutput' },
		fetched: 1,
		status: 'waiting',
	},
	'input-fields': { videos: 2, options: { includeInputFields: true }, status: 'waiting' },
	'retry-on-fail': {
		videos: 2,
		settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 1000 },
		fault: { status: 400, code: 'invalid_prompt' },
		status: 'waiting',
	},
	failed: { videos: 2, fault: { status: 400, code: 'invalid_prompt' }, status: 'error' },
	held: { videos: 1, wait: { whileWaiting: 'hold' }, status: 'running' },
	open: { videos: 1, hasNoResponse: true, status: 'running' },
};

/** The process in which executions run. */
type Place = Pick<Stage, 'owner' | 'gateway' | 'credential'>;

/** Brings an execution of each kind to where it is stored; orders without a response last, because they time out. */
export async function storeAll(names: string[], place: Place): Promise<Stored[]> {
	const all: Stored[] = [];
	for (const hasNoResponse of [undefined, true]) {
		const batch = names.filter((name) => kinds[name].hasNoResponse === hasNoResponse);
		const stored: Stored[] = [];
		for (const name of batch) stored.push(await Stored.start(name, place));
		await Promise.all(stored.map(async (one) => await one.isStored()));
		all.push(...stored);
	}
	return all;
}

/** An execution of a kind, and the videos that it has ordered. */
export class Stored {
	private workflow?: IWorkflowBase;

	owner: Owner;

	private constructor(
		readonly name: string,
		readonly kind: Kind,
		private readonly stage: Place,
	) {
		this.owner = stage.owner;
	}

	static async start(name: string, stage: Place): Promise<Stored> {
		const stored = new Stored(name, kinds[name], stage);
		const { owner, gateway, credential } = stage;
		const { fault, create, hasNoResponse } = stored.kind;
		const isLast = ({ body }: RecordedRequest) =>
			JSON.stringify(body).includes(`"${stored.prompts.at(-1)}"`);
		const route = create ? 'videoCreate' : 'referenceVideoCreate';
		if (fault) gateway.fault({ ...fault, action: 'error', route, when: isLast });
		if (hasNoResponse) gateway.fault({ action: 'stall', accepted: true, route, when: isLast });
		const workflow = await owner.createWorkflow(withCredential(stored.build(), credential));
		await owner.publish(workflow);
		await fetchPublished(`${owner.url}/webhook/${name}`);
		stored.workflow = workflow;
		return stored;
	}

	get prompts(): string[] {
		return Array.from({ length: this.kind.videos }, (_, index) => `${this.name} ${index}`);
	}

	/** In the order of the prompts. */
	get jobs(): Job[] {
		const jobs = this.stage.gateway.jobs.list();
		return this.prompts.flatMap((prompt) => jobs.filter(({ order }) => order.prompt === prompt));
	}

	/** Resolves when n8n has stored it as its kind requires. */
	async isStored(): Promise<void> {
		const { videos, fetched = 0, status, hasNoResponse } = this.kind;
		if (hasNoResponse) return await until(() => this.jobs.length === videos);
		await this.becomes('waiting', 'error');
		for (const job of this.jobs.slice(0, fetched)) this.complete(job);
		const downloads = () => this.jobs.filter(({ id }) => this.isRequested('download', id)).length;
		await until(() => downloads() === fetched);
		if (status === 'running')
			await until(() => this.jobs.some(({ id }) => this.isRequested('task', id)));
		await this.becomes(status);
	}

	/** Does what the Retry button does, once n8n shows that the execution has ended. */
	async retry(): Promise<void> {
		await this.becomes('error', 'crashed', 'canceled');
		const { id } = await this.latest();
		// n8n responds when the execution has ended or is parked.
		await this.owner.request('POST', `/executions/${id}/retry`, { loadWorkflow: false });
	}

	/** Finishes its videos, each with its own content. */
	finish(): void {
		for (const job of this.jobs) this.complete(job);
	}

	get workflowId(): string {
		return this.workflow?.id ?? '';
	}

	readonly latest = async (): Promise<{ id: string; status: string }> => {
		const [latest] = await this.owner.executionsOf(this.workflow as IWorkflowBase);
		return latest;
	};

	async becomes(...states: string[]): Promise<void> {
		const isSo = async () => states.includes((await this.latest())?.status);
		await until(isSo, 260).catch(async () => {
			const { id, status } = await this.latest();
			const { data } = await this.owner.execution(id);
			const error = JSON.stringify(data.resultData.error);
			throw new Error(`${this.name} is ${status}, not ${states.join(' or ')}: ${error}`);
		});
	}

	private complete({ id, order }: Job): void {
		this.stage.gateway.jobs.complete(id, titledVideo(order.prompt));
	}

	private isRequested(route: string, id: string): boolean {
		const { requests } = this.stage.gateway;
		return requests.some((request) => request.route === route && request.url.includes(id));
	}

	/** A webhook starts it, as an active workflow is started. */
	private build() {
		const { create, options = {}, wait = {}, settings, waitSettings } = this.kind;
		const { gateway } = this.stage;
		const videos = this.prompts.map((prompt) => ({ prompt }));
		const list = { mode: 'raw', jsonOutput: JSON.stringify({ videos }) };
		const url = gateway.addMedia('green.png', picture('green'), 'image/png');
		const reference = {
			resource: 'referenceVideo',
			model: byId('beta-2.7-r2v'),
			mediaInput: 'json',
			mediaJson: JSON.stringify([{ type: 'reference_image', url }]),
		};
		const order = {
			...(create ?? reference),
			operation: 'create',
			prompt: '={{ $json.prompt }}',
			options,
		};
		return startedByWebhook(
			{ path: this.name },
			core('List', 'set', list, 3.4),
			core('Each', 'splitOut', { fieldToSplitOut: 'videos' }),
			modelGateway(order, { name: 'Create', ...settings }),
			waitForVideo({ ...wait, options }, waitSettings),
			core('After', 'noOp'),
		);
	}
}
