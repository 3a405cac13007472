import type { SteadyClock } from '../shared/service/client/clock';
import { isDataUrl } from '../shared/service/client/fileRequest';
import { AdaptiveLimit } from '../shared/service/client/adaptiveLimit';
import { asGatewayError, GatewayError } from '../shared/service/errors/gatewayError';
import { hasJobFailed } from '../shared/service/errors/jobErrors';
import type { JobSummary } from '../shared/service/errors/jobSummary';
import { jobSource } from '../shared/service/jobs/requests';
import { JobWait } from '../shared/service/jobs/wait';
import { LiveText } from '../shared/n8n/agent/liveText';
import { isTool } from '../shared/n8n/agent/tool';
import type { N8nGateway } from '../shared/n8n/client/gateway';
import { jobCollected } from '../shared/n8n/execution/orderedJobs';
import { checkAll } from '../shared/n8n/items/check';
import type { Item } from '../shared/n8n/items/item';
import type { RunState } from '../shared/n8n/items/runState';
import { parallelOf } from '../shared/n8n/parameters/options';
import { maxParallelDownloads } from './fields';
import { Forecasts, isUnfinished } from './forecasts';
import { logEnd } from './jobLog';
import { outputsOf, unfinishedOutput } from './outputs';
import type { PassLength } from './plan';
import { newPoller, secondsSince, startOf, type WaitRequest } from './request';
import { firstPollDelays } from './schedule';
import {
	earlierItems,
	jobOf,
	movedItems,
	type WaitState,
	type JobState,
	type StoredItem,
	type StoredItems,
} from './state';

/**
 * One pass of the wait over the items:
 * 1. begin: read the parameters of each item once, or take up what the last pass stored of it;
 * 2. poll what is due, each job on its own schedule;
 * 3. deliver what has finished.
 */
export class Pass {
	/** The items whose waits have begun. */
	private readonly stored = new Map<Item, StoredItem>();
	readonly forecasts: Forecasts;
	/** The state in which this pass leaves a job, by its ID and its settings. */
	private readonly polled = new Map<string, Promise<StoredItem | undefined>>();
	private readonly downloads: AdaptiveLimit;
	/** Milliseconds from the beginning of the pass, for each item. */
	private readonly firstPolls: number[];
	private readonly earlier: StoredItems;

	constructor(
		private readonly run: RunState,
		private readonly state: WaitState,
		private readonly length: PassLength,
		private readonly clock: SteadyClock,
	) {
		const { context, items } = run;
		this.earlier = earlierItems(state, clock.now());
		this.forecasts = new Forecasts(context, clock);
		this.downloads = new AdaptiveLimit(parallelOf(context, maxParallelDownloads));
		this.firstPolls = firstPollDelays(items.length, length, this.earlier);
		for (const item of items) this.takeUp(item);
	}

	/** Also without a credential, so that its error names the jobs. */
	private takeUp(item: Item): void {
		const known = this.earlier.get(item.index);
		if (!known) return;
		item.job = jobOf(known);
		const { request, includesInput, hints = [] } = known.begun ?? {};
		Object.assign(item, { request, includesInput });
		for (const hint of hints) item.hint(hint);
	}

	/** Gives the outputs of an earlier pass, which need no credential. */
	keepDelivered(): void {
		for (const [index, known] of this.earlier)
			if (known.name === 'delivered') this.run.items[index].outcome = known.outputs;
	}

	/** The items as they are stored for the next pass. The times are those of n8n's clock. */
	get items(): StoredItems {
		const items = new Map([...this.stored].map(([{ index }, stored]) => [index, stored]));
		return movedItems(items, this.clock.step);
	}

	async loop(gateway: N8nGateway, limiter: AdaptiveLimit): Promise<void> {
		const { run } = this;
		await this.begin(gateway);
		if (run.isFailing || run.isStopped) return;
		const items = [...this.stored.keys()];
		// Unless each item goes on alone, one failure fails all: nothing is downloaded for an output that never comes.
		const isTogether = !run.context.continueOnFail();
		const deliver = async (item: Item) => await this.attempt('deliver', item, gateway);
		await limiter.forEach(items, async (item) => {
			await this.pollOnce(item, gateway);
			// A file that came in place of its link would be stored with the execution from pass to pass.
			if (!isTogether || this.holdsFile(item)) await deliver(item);
		});
		const isWaiting = (item: Item) => this.stored.get(item)?.name === 'waiting';
		if (isTogether && !items.some(isWaiting)) await limiter.forEach(items, deliver);
		await this.forecasts.save();
	}

	/** Reads the items that no pass has read yet: a wait goes on with the parameters of its beginning. */
	private async begin(gateway: N8nGateway): Promise<void> {
		const { run, earlier, clock } = this;
		const unread = run.items.filter(({ request }) => request === undefined);
		await checkAll(run, gateway, unread);
		for (const item of run.open) {
			const request = item.request as WaitRequest;
			const known = earlier.get(item.index);
			// 1.0.0 read the parameters in each pass, and began again when the Job ID had changed.
			const isKnown = known && jobOf(known).id === request.id;
			const { includesInput, hints } = item;
			const now = clock.now();
			const { baseUrl } = gateway.connection;
			const start = isKnown ? known.begun?.start : startOf(request, baseUrl, now);
			const stored: StoredItem = {
				...(isKnown ? known : { name: 'waiting', poller: newPoller(request, now) }),
				begun: { request, includesInput, hints: [...hints], start },
			};
			this.stored.set(item, stored);
			item.model = start?.model;
			await this.forecasts.prepare(stored);
		}
	}

	/** Does one step of an item that has not ended. The failure of the step ends it. */
	private async attempt(step: 'poll' | 'deliver', item: Item, gateway: N8nGateway): Promise<void> {
		const { run } = this;
		if (run.isFailing || run.isStopped || item.outcome) return;
		try {
			await run.abortable(gateway, async (own) => await this[step](item, own));
		} catch (error) {
			if (error instanceof GatewayError && item.job)
				this.end(item, { name: 'failed', job: item.job, failure: error.failure });
			item.outcome = [run.fail(item, error)];
		}
	}

	/** Polls a job once for all items that wait for it in the same way. */
	private async pollOnce(item: Item, gateway: N8nGateway): Promise<void> {
		const stored = this.stored.get(item);
		if (!stored || !('poller' in stored)) return;
		const { job, kind, timeout, pollInterval } = stored.poller;
		const key = JSON.stringify([job.id, kind, timeout, pollInterval]);
		const polled = this.polled.get(key);
		if (!polled) {
			const own = this.attempt('poll', item, gateway).then(() => this.stored.get(item));
			this.polled.set(key, own);
			await own;
			return;
		}
		const state = await polled;
		if (!state) return;
		this.keep(item, state);
		item.job = jobOf(state);
	}

	/** Waits for the job until it has finished, or until the pass ends. @throws GatewayError as {@link JobWait.hold} does */
	private async poll(item: Item, gateway: N8nGateway): Promise<void> {
		const { run, state, length, forecasts } = this;
		const stored = this.stored.get(item) as StoredItem;
		if (!('poller' in stored)) return;
		const { index } = item;
		const { job } = stored.poller;
		// n8n has restarted since the execution was parked, and may show it as crashed.
		if (state.mayShowAsCrashed && this.earlier.has(index))
			run.log.write('wait resumed', { item: index, job });
		if (stored.name === 'finished' || length.name === 'parkAtOnce') return;
		const live = new LiveText(run.context, index);
		let seenRunningAt = isUnfinished(job) ? stored.poller.lastPolledAt : undefined;
		const wait = new JobWait(jobSource(gateway), stored.poller, {
			clock: this.clock,
			signal: gateway.runtime.signal,
			firstPollAfter: this.firstPolls[index],
			onPoll: async (_job, hasChanged, isRunning) => {
				if (isRunning) seenRunningAt = this.clock.now();
				const now = { ...stored, poller: wait.state };
				await forecasts.report(now, { index, hasChanged, isRunning, live, log: run.log });
			},
		});
		try {
			const finished =
				length.name === 'stay' ? await wait.hold() : await wait.pollUntil(length.time);
			const { state: poller } = wait;
			if (finished) forecasts.learn({ ...stored, poller }, seenRunningAt);
			this.keep(
				item,
				finished ? { name: 'finished', poller, finished } : { name: 'waiting', poller },
			);
		} catch (error) {
			const known = asGatewayError(error);
			const { failure } = known;
			if (failure.waitEnded !== 'timeout' || !isTool(run.context.getNode())) throw known;
			// The model that called the tool may wait for it again.
			this.stored.delete(item);
			const forecast = forecasts.of({ ...stored, poller: wait.state });
			item.outcome = [unfinishedOutput(failure, forecast)];
		} finally {
			item.job = wait.state.job;
			await live.end();
		}
	}

	/** Gives the outputs of a finished job. @throws GatewayError when the download fails */
	private async deliver(item: Item, gateway: N8nGateway): Promise<void> {
		const { run, downloads, clock } = this;
		const stored = this.stored.get(item) as StoredItem;
		if (stored.name === 'waiting') return;
		if (stored.name === 'failed') throw new GatewayError(stored.failure);
		const tools = { context: run.context, gateway, downloads, clock };
		const { outputs, hint } =
			stored.name === 'finished'
				? await outputsOf(stored, item.request as WaitRequest, tools)
				: stored;
		this.end(item, { name: 'delivered', job: jobOf(stored), outputs, hint });
		// n8n shows the hints of the last pass only.
		if (hint !== undefined) item.hint(hint);
		item.outcome = outputs;
	}

	private holdsFile(item: Item): boolean {
		const stored = this.stored.get(item);
		return stored?.name === 'finished' && isDataUrl(stored.finished.source);
	}

	private keep(item: Item, state: JobState): void {
		const { begun, waitedSeconds = secondsSince(begun?.start, this.clock.now()) } =
			this.stored.get(item) ?? {};
		const waited = state.name === 'waiting' ? {} : { waitedSeconds };
		Object.assign(item, waited);
		this.stored.set(item, { ...state, begun, ...waited });
	}

	/** Ends an item whose job, or the wait for it, has ended. */
	private end(item: Item, state: Extract<JobState, { job: JobSummary }>): void {
		const before = this.stored.get(item);
		this.keep(item, state);
		// An item that ended in an earlier pass is logged already.
		if (before && 'poller' in before)
			logEnd(this.run.log, item.index, this.stored.get(item) as StoredItem);
		const failure = state.name === 'failed' ? state.failure : undefined;
		if (!failure || hasJobFailed(failure)) jobCollected(state.job.id, failure?.message);
	}
}
