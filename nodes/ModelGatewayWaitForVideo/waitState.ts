import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { GatewayError, type Failure } from '../shared/gateway/errors/gatewayError';
import type { JobSummary } from '../shared/gateway/errors/jobSummary';
import type { PollerState } from '../shared/gateway/jobs/poller';
import { isObject, textAt, valueAt, withoutUndefined } from '../shared/gateway/json';
import { clearNodeMemory, nodeMemory } from '../shared/n8n/execution/memory';
import type { ItemOutput } from '../shared/n8n/items/work';

type Ending = { outputs: ItemOutput[] } | { failure: Failure };

interface Stored {
	/** A retry is an execution of its own, and begins anew: files belong to the execution that stored them. */
	execution: string;
	pollers: Record<string, PollerState>;
	/** By item: how it ended. Its job is not polled again. */
	endings: Record<number, Ending>;
}

/** Whether it can be read. If not, the wait begins anew, as it finds the jobs in its input. */
function isStored(value: unknown): value is Stored {
	if (!isObject(value) || !isObject(value.pollers) || !isObject(value.endings)) return false;
	const { pollers, endings } = value;
	return Object.values(pollers).every(isPoller) && Object.values(endings).every(isEnding);
}

const isPoller = (value: unknown) =>
	['kind', 'job.id', 'stage.name'].every((path) => textAt(value, path) !== undefined) &&
	['timeout', 'since', 'nextPollAt'].every((path) => typeof valueAt(value, path) === 'number');

const isEnding = (value: unknown) =>
	isObject(value) &&
	(Array.isArray(value.outputs) || textAt(value, 'failure.message') !== undefined);

/**
 * What a wait knows from one pass to the next. n8n stores it with the execution, so it has to survive JSON. It is
 * there for the next pass only: whoever waits for these jobs again later, such as a retry, begins anew.
 */
export class WaitState {
	/** Whether this is the first pass. */
	readonly isNew: boolean;
	private readonly waits: Record<string, unknown>;
	/** Tells the runs of a loop apart, and stays the same from pass to pass. */
	private readonly runKey: string;
	private readonly stored: Stored;
	/** By item: the key of its job. */
	private readonly jobKeys = new Map<number, string>();
	/** By the key of a job, as the pass began: its place in the order of the next polls. */
	private places?: Map<string, number>;
	/** The keys of the jobs that are left to the next pass. */
	private readonly parked = new Set<string>();

	constructor(context: IExecuteFunctions) {
		const own: { waits?: object } = nodeMemory(context) ?? clearNodeMemory(context);
		const execution = context.getExecutionId();
		this.waits = (own.waits ??= {}) as Record<string, unknown>;
		this.runKey = JSON.stringify(context.getExecuteData().source?.main?.[0] ?? null);
		const known = this.waits[this.runKey];
		delete this.waits[this.runKey];
		const isKnown = isStored(known) && known.execution === execution;
		this.isNew = !isKnown;
		this.stored = isKnown ? known : { execution, pollers: {}, endings: {} };
	}

	/** Keeps it for the next pass. */
	store(): void {
		this.waits[this.runKey] = this.stored;
	}

	/** Says which job an item waits for. */
	assign(item: number, jobKey: string): void {
		this.jobKeys.set(item, jobKey);
	}

	/** The wait for a job as the last pass left it; undefined in the first one. */
	poller(jobKey: string): PollerState | undefined {
		return this.stored.pollers[jobKey];
	}

	/** How many jobs are to be polled before this one, by what the last pass left. */
	placeOf(jobKey: string): number | undefined {
		this.places ??= new Map(
			Object.entries(this.stored.pollers)
				.sort(([, one], [, other]) => one.nextPollAt - other.nextPollAt)
				.map(([key], place) => [key, place]),
		);
		return this.places.get(jobKey);
	}

	keepPoller(jobKey: string, poller: PollerState): void {
		this.stored.pollers[jobKey] = poller;
	}

	/** Leaves the job to the next pass. */
	park(jobKey: string): void {
		this.parked.add(jobKey);
	}

	/** What an item gave in an earlier pass. @throws GatewayError as then */
	outputsOf(item: number): ItemOutput[] | undefined {
		const ending = this.stored.endings[item];
		if (ending && 'failure' in ending) throw new GatewayError(ending.failure);
		return ending?.outputs;
	}

	keepOutputs(item: number, outputs: ItemOutput[]): void {
		this.stored.endings[item] = { outputs };
	}

	keepFailure(item: number, { failure }: GatewayError): void {
		this.stored.endings[item] = { failure };
	}

	get isOver(): boolean {
		return this.parked.size === 0;
	}

	get jobs(): JobSummary[] {
		return Object.values(this.stored.pollers).map(({ job }) => job);
	}

	/** In milliseconds since 1970. */
	get nextPoll(): number {
		return Math.min(...[...this.parked].map((key) => this.stored.pollers[key].nextPollAt));
	}

	/** Where the jobs stand, for whoever looks at the node while the execution is parked. */
	get overview(): INodeExecutionData[] {
		return [...this.jobKeys].map(([item, key]) => {
			const poller = this.stored.pollers[key];
			const { id, status, progress } = poller.job;
			const isParked = this.parked.has(key);
			const next_poll = isParked ? new Date(poller.nextPollAt).toISOString() : undefined;
			return {
				json: withoutUndefined({ job_id: id, status, progress, next_poll }),
				pairedItem: { item },
			};
		});
	}
}
