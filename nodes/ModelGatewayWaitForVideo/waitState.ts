import type { IExecuteFunctions } from 'n8n-workflow';
import type { Failure } from '../shared/gateway/errors/gatewayError';
import type { JobSummary } from '../shared/gateway/errors/jobSummary';
import type { PollerState } from '../shared/gateway/jobs/poller';
import { isObject, textAt, valueAt } from '../shared/gateway/json';
import { clearNodeMemory, nodeMemory } from '../shared/n8n/execution/memory';
import type { ItemOutput } from '../shared/n8n/items/work';

/** How a pass leaves one item: still waiting, or ended, so that its job is not polled again. */
export type StoredItem =
	| { poller: PollerState }
	| { job: JobSummary; outputs: ItemOutput[] }
	| { job: JobSummary; failure: Failure };

/** The job of an item, as it was last seen. */
export function jobOf(item: StoredItem): JobSummary {
	return 'poller' in item ? item.poller.job : item.job;
}

/** By the index of the item. */
type StoredItems = Record<number, StoredItem>;

interface Stored {
	/** A retry is an execution of its own, and starts over: files belong to the execution that stored them. */
	execution: string;
	items: StoredItems;
}

/** Whether it can be read. If not, the wait starts over with the jobs of its input. */
function isStored(value: unknown): value is Stored {
	return isObject(value) && isObject(value.items) && Object.values(value.items).every(isItem);
}

function isItem(value: unknown): boolean {
	if (!isObject(value)) return false;
	if (value.poller !== undefined) return isPoller(value.poller);
	const isEnded = Array.isArray(value.outputs) || textAt(value, 'failure.message') !== undefined;
	return isEnded && textAt(value, 'job.id') !== undefined;
}

function isPoller(value: unknown): boolean {
	return (
		['kind', 'job.id', 'stage.name'].every((path) => textAt(value, path) !== undefined) &&
		['timeout', 'since', 'nextPollAt'].every((path) => typeof valueAt(value, path) === 'number')
	);
}

/**
 * What a wait keeps from one pass to the next. n8n stores it with the execution, so it has to survive JSON. It is
 * there for the next pass only: a later wait for these jobs, such as that of a retry, starts over.
 */
export class WaitState {
	/** The items as the last pass left them; undefined in the first one. */
	readonly earlier?: Readonly<StoredItems>;
	private readonly waits: Record<string, unknown>;
	/** Tells the runs of a loop apart, and stays the same from pass to pass. */
	private readonly runKey: string;
	private readonly execution: string;

	constructor(context: IExecuteFunctions) {
		const own: { waits?: object } = nodeMemory(context) ?? clearNodeMemory(context);
		this.execution = context.getExecutionId();
		this.waits = (own.waits ??= {}) as Record<string, unknown>;
		this.runKey = JSON.stringify(context.getExecuteData().source?.main?.[0] ?? null);
		const known = this.waits[this.runKey];
		delete this.waits[this.runKey];
		if (isStored(known) && known.execution === this.execution) this.earlier = known.items;
	}

	/** Stores the items for the next pass. */
	store(items: ReadonlyMap<number, StoredItem>): void {
		const stored: Stored = { execution: this.execution, items: Object.fromEntries(items) };
		this.waits[this.runKey] = stored;
	}
}
