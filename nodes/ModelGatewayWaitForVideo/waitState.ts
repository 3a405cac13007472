import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { GatewayError, type Failure } from '../shared/gateway/errors/gatewayError';
import type { JobSummary } from '../shared/gateway/errors/jobSummary';
import type { WaitedJob } from '../shared/gateway/jobs/poller';
import { withoutUndefined } from '../shared/gateway/json';
import type { ItemOutput } from '../shared/n8n/items/work';

type Ended = { outputs: ItemOutput[] } | { failure: Failure };

interface Kept {
	/** A retry is an execution of its own, and begins anew: files belong to the execution that stored them. */
	execution: string;
	jobs: Record<string, WaitedJob>;
	/** By item: what is not asked for again. */
	ended: Record<number, Ended>;
}

/**
 * What a wait knows from one pass to the next. n8n stores it with the execution, so it has to survive JSON. It is
 * there for the next pass only: whoever waits for these jobs again later, such as a retry, begins anew.
 */
export class WaitState {
	/** Whether this is the first pass. */
	readonly isNew: boolean;
	private readonly stored: Record<string, Kept>;
	private readonly key: string;
	private readonly kept: Kept;
	/** By item. */
	private readonly waited = new Map<number, WaitedJob>();
	private readonly running = new Set<WaitedJob>();

	constructor(context: IExecuteFunctions) {
		const memory = context.getContext('node') as { waits?: Record<string, Kept> };
		const execution = context.getExecutionId();
		this.stored = memory.waits ??= {};
		// Tells the runs of a loop apart, and stays the same from pass to pass.
		this.key = JSON.stringify(context.getExecuteData().source?.main?.[0] ?? null);
		const known = this.stored[this.key];
		delete this.stored[this.key];
		this.isNew = known?.execution !== execution;
		this.kept = this.isNew ? { execution, jobs: {}, ended: {} } : known;
	}

	/** Keeps it for the next pass. */
	store(): void {
		this.stored[this.key] = this.kept;
	}

	/** The job of an item as earlier passes left it; without any, its time begins to run. */
	job(item: number, key: string, job: Pick<WaitedJob, 'note' | 'since'>): WaitedJob {
		const known = (this.kept.jobs[key] ??= { ...job, due: job.since });
		this.waited.set(item, known);
		return known;
	}

	/** What an item gave in an earlier pass. @throws GatewayError as then */
	earlier(item: number): ItemOutput[] | undefined {
		const ended = this.kept.ended[item];
		if (ended && 'failure' in ended) throw new GatewayError(ended.failure);
		return ended?.outputs;
	}

	keep(item: number, outputs: ItemOutput[]): void {
		this.kept.ended[item] = { outputs };
	}

	keepFailure(item: number, { failure }: GatewayError): void {
		this.kept.ended[item] = { failure };
	}

	/** Lets another pass see to the job. */
	postpone(job: WaitedJob): void {
		this.running.add(job);
	}

	get isOver(): boolean {
		return this.running.size === 0;
	}

	get jobs(): JobSummary[] {
		return Object.values(this.kept.jobs).map(({ note }) => note);
	}

	/** In milliseconds since 1970. */
	get nextPoll(): number {
		return Math.min(...[...this.running].map(({ due }) => due));
	}

	/** Where the jobs stand, for whoever looks at the node while the execution is parked. */
	get overview(): INodeExecutionData[] {
		return [...this.waited].map(([item, job]) => {
			const { id, status, progress } = job.note;
			const next_poll = this.running.has(job) ? new Date(job.due).toISOString() : undefined;
			return {
				json: withoutUndefined({ job_id: id, status, progress, next_poll }),
				pairedItem: { item },
			};
		});
	}
}
