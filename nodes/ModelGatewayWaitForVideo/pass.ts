import type { IExecuteFunctions } from 'n8n-workflow';
import { AdaptiveLimit } from '../shared/service/client/adaptiveLimit';
import type { SteadyClock } from '../shared/service/client/steadyClock';
import { asGatewayError, GatewayError, type Failure } from '../shared/service/errors/gatewayError';
import { hasJobFailed } from '../shared/service/errors/jobErrors';
import { describeProgress, jobName, type JobSummary } from '../shared/service/errors/jobSummary';
import type { FinishedJob, PollerState } from '../shared/service/jobs/poller';
import { jobSource } from '../shared/service/jobs/requests';
import { JobWait } from '../shared/service/jobs/wait';
import { LiveText } from '../shared/n8n/agent/liveText';
import { isTool } from '../shared/n8n/agent/tool';
import { asMarkdown } from '../shared/n8n/display/plainText';
import { jobCollected } from '../shared/n8n/execution/memory';
import type { ItemOutput, ItemRun } from '../shared/n8n/items/work';
import { parallelOf } from '../shared/n8n/parameters/options';
import { maxParallelDownloads } from './fields';
import { JobLog } from './jobLog';
import { outputsOf, unfinishedOutput, type Delivered } from './outputs';
import type { PassLength } from './plan';
import { newPoller, type WaitRequest } from './request';
import { FirstPolls } from './schedule';
import { earlierItems, jobOf, movedItems, type StoredItem, type WaitState } from './state';

/** The result of a pass for the job of an item. */
export type WaitResult =
	| { name: 'finished'; finished: FinishedJob }
	/** An earlier pass has delivered it. */
	| ({ name: 'delivered' } & Delivered)
	/** It still runs; the next pass polls it again. */
	| { name: 'running' }
	/** It still runs; the model that called the tool may wait for it again. */
	| { name: 'unfinished'; failure: Failure };

/** One pass over all items. There is only one unless the execution is parked between polls. */
export class WaitPass {
	/** Milliseconds. */
	longestTimeout = 0;
	/** By item. */
	private readonly storedItems = new Map<number, StoredItem>();
	/** By item. */
	private readonly waits = new Map<number, JobWait>();
	/** The waits of all items. */
	private readonly underWay: Array<Promise<WaitResult>> = [];
	private allEnded?: Promise<boolean>;
	/** Whether an item is left out of the next pass only when all have ended, because one failure fails all of them. */
	private readonly deliversTogether: boolean;
	/** By the name of a job: the progress that was reported last. */
	private readonly reported = new Map<string, string>();
	private readonly downloads: AdaptiveLimit;
	private readonly firstPolls: FirstPolls;
	/** The items that the last pass stored. */
	private readonly earlier: ReadonlyMap<number, StoredItem>;
	private log?: JobLog;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly length: PassLength,
		private readonly state: WaitState,
		/** n8n's clock may step during the pass, and has no say in it. */
		private readonly clock: SteadyClock,
	) {
		const { length: count } = context.getInputData();
		this.earlier = earlierItems(state, clock.now());
		this.downloads = new AdaptiveLimit(parallelOf(context, maxParallelDownloads));
		this.firstPolls = new FirstPolls(count, length, this.earlier.values());
		this.deliversTogether = !context.continueOnFail();
	}

	/** The items to store for the next pass, in their order. Their times are those of n8n's clock. */
	get items(): ReadonlyMap<number, StoredItem> {
		const sorted = [...this.storedItems].sort(([one], [other]) => one - other);
		return new Map(movedItems(sorted, this.clock.step));
	}

	/** Logs the jobs that still run. */
	logParked(): void {
		this.log?.parked(this.items);
	}

	/** Waits for the job of one item. @throws GatewayError as {@link JobWait.hold} does, also one of an earlier pass */
	async wait(request: WaitRequest, run: ItemRun): Promise<WaitResult> {
		const { item } = run;
		this.log ??= new JobLog(run.log, [...this.earlier.values()]);
		this.longestTimeout = Math.max(this.longestTimeout, request.timeout);
		const known = this.knownOf(request, item);
		if (known === undefined || known.name === 'waiting' || known.name === 'finished') {
			if (known && this.state.mayShowAsCrashed) this.log.resumed(item, known.poller.job);
			const wait = this.waitFor(request, run, known);
			this.underWay.push(wait);
			return await wait;
		}
		this.storedItems.set(item, known);
		run.reportJob(known.job);
		if (known.name === 'failed') throw new GatewayError(known.failure);
		const { outputs, hint } = known;
		return { name: 'delivered', outputs, hint };
	}

	/** The outputs of one item; none while its job runs. @throws GatewayError when the download fails */
	async deliver(result: WaitResult, request: WaitRequest, run: ItemRun): Promise<ItemOutput[]> {
		// Nothing is downloaded for an output that another job may still prevent.
		if (this.deliversTogether && !(await this.haveAllEnded())) return [];
		if (result.name === 'running') return [];
		if (result.name === 'unfinished') return [unfinishedOutput(result.failure)];
		const isNew = result.name === 'finished';
		const { outputs, hint } = isNew ? await this.collect(result.finished, request, run) : result;
		// n8n shows the hints of the last pass only.
		if (hint !== undefined) run.hint(hint);
		return outputs;
	}

	/** What the last pass stored of the item, unless its Job ID has changed. */
	private knownOf({ id }: WaitRequest, item: number): StoredItem | undefined {
		const known = this.earlier.get(item);
		return known && jobOf(known).id === id ? known : undefined;
	}

	/** Whether the job of every item has ended well. All waits begin before the first one ends. */
	private async haveAllEnded(): Promise<boolean> {
		const isEnded = (wait: PromiseSettledResult<WaitResult>) =>
			wait.status === 'fulfilled' && wait.value.name !== 'running';
		this.allEnded ??= Promise.allSettled(this.underWay).then((waits) => waits.every(isEnded));
		return await this.allEnded;
	}

	private async waitFor(
		request: WaitRequest,
		run: ItemRun,
		known: Extract<StoredItem, { poller: PollerState }> = {
			name: 'waiting',
			poller: newPoller(request, this.clock.now()),
		},
	): Promise<WaitResult> {
		const { item } = run;
		const live = new LiveText(this.context, item);
		const wait = this.newWait(known.poller, run, live);
		this.waits.set(item, wait);
		try {
			const finished = known.name === 'finished' ? known.finished : await this.outcomeOf(wait);
			const { state: poller } = wait;
			const stored = finished
				? ({ name: 'finished', poller, finished } as const)
				: ({ name: 'waiting', poller } as const);
			this.storedItems.set(item, stored);
			return finished ? { name: 'finished', finished } : { name: 'running' };
		} catch (error) {
			const { failure } = asGatewayError(error);
			if (isTool(this.context.getNode()) && failure.waitEnded === 'timeout') {
				return { name: 'unfinished', failure };
			}
			throw this.keepFailure(error, item, wait);
		} finally {
			run.reportJob(wait.state.job);
			await live.end();
		}
	}

	private async collect(
		finished: FinishedJob,
		request: WaitRequest,
		run: ItemRun,
	): Promise<Delivered> {
		const { downloads } = this;
		const { item } = run;
		const wait = this.waits.get(item) as JobWait;
		const refresh = async () => await wait.freshSource();
		try {
			const delivered = await outputsOf(finished, request, { run, downloads, refresh });
			this.end(item, { name: 'delivered', job: wait.state.job, ...delivered });
			return delivered;
		} catch (error) {
			throw this.keepFailure(error, item, wait);
		} finally {
			run.reportJob(wait.state.job);
		}
	}

	private keepFailure(error: unknown, item: number, { state: { job } }: JobWait): GatewayError {
		const gatewayError = asGatewayError(error);
		this.end(item, { name: 'failed', job, failure: gatewayError.failure });
		return gatewayError;
	}

	private end(item: number, stored: StoredItem): void {
		this.storedItems.set(item, stored);
		this.log?.ended(item, stored);
		const { failure } = { failure: undefined, ...stored };
		if (!failure || hasJobFailed(failure)) jobCollected(jobOf(stored).id, failure?.message);
	}

	private newWait(poller: PollerState, { gateway, item }: ItemRun, live: LiveText): JobWait {
		const { runtime } = gateway;
		const source = jobSource(gateway);
		const isLimited = runtime.queue !== undefined;
		return new JobWait(source, poller, {
			...{ clock: this.clock, signal: runtime.signal },
			firstPollAfter: this.firstPolls.delayOf(poller.job.id, item, isLimited),
			onChange: async (job) => await this.reportProgress(item, job, live),
		});
	}

	/** Undefined when the job still runs at the end of the pass. */
	private async outcomeOf(wait: JobWait): Promise<FinishedJob | undefined> {
		switch (this.length.name) {
			case 'parkAtOnce':
				return undefined;
			case 'pollUntil':
				return await wait.pollUntil(this.length.time);
			case 'stay':
				return await wait.hold();
		}
	}

	/** Reports the progress of a job once, even if several items wait for it. */
	private async reportProgress(item: number, job: JobSummary, live: LiveText): Promise<void> {
		const line = describeProgress(job);
		if (this.reported.get(jobName(job)) === line) return;
		this.reported.set(jobName(job), line);
		this.log?.progress(item, job);
		// Markdown needs an empty line between two lines.
		await live.add(`${describeProgress(job, asMarkdown)}\n\n`);
	}
}
