import type { Failure } from '../shared/service/errors/gatewayError';
import type { JobSummary } from '../shared/service/errors/jobSummary';
import { moved, type FinishedJob, type PollerState } from '../shared/service/jobs/pollerState';
import { isObject, textAt, valueAt, type JsonObject } from '../shared/service/json';
import { isWorker, type EngineContext } from '../shared/n8n/execution/engineContext';
import { clearNodeMemory, nodeMemory, StoredJobs } from '../shared/n8n/execution/memory';
import type { Delivered } from './outputs';
import type { JobStart, WaitRequest } from './request';

/** An item at the end of a pass. n8n stores it, so it must survive JSON. */
export type StoredItem = JobState & {
	/** The parameters as they were when its wait began. 1.0.0 did not store them. */
	begun?: { request: WaitRequest; includesInput?: boolean; hints: string[]; start?: JobStart };
	/** Until the job or the wait for it ended. */
	waitedSeconds?: number;
};

export type JobState =
	/** The next pass polls it again. */
	| { name: 'waiting'; poller: PollerState }
	/** The file is downloaded when all jobs have finished. */
	| { name: 'finished'; poller: PollerState; finished: FinishedJob }
	| ({ name: 'delivered'; job: JobSummary } & Delivered)
	| { name: 'failed'; job: JobSummary; failure: Failure };

export function jobOf(item: StoredItem): JobSummary {
	return 'poller' in item ? item.poller.job : item.job;
}

/** By the index of the item. */
export type StoredItems = ReadonlyMap<number, StoredItem>;

/** When the next pass must begin, in milliseconds since 1970; undefined when no item waits any more. */
export function nextPollOf(items: StoredItems): number | undefined {
	let next = Infinity;
	for (const item of items.values())
		if (item.name === 'waiting') next = Math.min(next, item.poller.nextPollAt);
	return next === Infinity ? undefined : next;
}

/**
 * The items that the last pass stored. If this pass begins before it is due, n8n's clock has been set back since then.
 * @param now milliseconds since 1970
 */
export function earlierItems({ earlier = {} }: WaitState, now: number): StoredItems {
	const items = new Map(Object.entries(earlier).map(([index, item]) => [Number(index), item]));
	const due = nextPollOf(items) ?? now;
	return movedItems(items, Math.min(0, now - due));
}

/** The items when n8n's clock is set by this many milliseconds. */
export function movedItems(items: StoredItems, milliseconds: number): StoredItems {
	const entries = [...items].map(
		([index, item]) => [index, movedItem(item, milliseconds)] as const,
	);
	return new Map(entries);
}

function movedItem(item: StoredItem, milliseconds: number): StoredItem {
	const { begun } = item;
	const start = begun?.start && { ...begun.start, at: begun.start.at + milliseconds };
	const own = start ? { ...item, begun: { ...begun, start } } : item;
	return 'poller' in own ? { ...own, poller: moved(own.poller, milliseconds) } : own;
}

/** A release that changes what is stored counts up, and still reads the earlier versions. 1.0.0 stored no number. */
const version = 2;

interface Stored {
	version: typeof version;
	/** The execution that stored the items. Its Retry starts again: files belong to one execution. */
	execution: string;
	passes: number;
	/** How many of the last passes in a row could not read the credential. */
	withoutCredential?: number;
	items: Record<number, StoredItem>;
}

/** Undefined for what cannot be read: the wait then starts again with the jobs of its input. */
function readStored(value: unknown): Stored | undefined {
	if (!isObject(value) || !isObject(value.items)) return undefined;
	const { version: stored = 1, execution, passes = 0, withoutCredential } = value;
	if (stored !== 1 && stored !== version) return undefined;
	const items = Object.entries(value.items).map(([index, item]): [string, unknown] => [
		index,
		stored === 1 && isObject(item) ? { name: nameIn(item), ...item } : item,
	]);
	if (!items.every(([, item]) => isItem(item))) return undefined;
	const read = { version, execution, passes, withoutCredential, items: Object.fromEntries(items) };
	return read as Stored;
}

/** Version 1 had no names: the fields of an item told what it was. */
function nameIn({ poller, finished, outputs }: JsonObject): StoredItem['name'] {
	if (poller !== undefined) return finished === undefined ? 'waiting' : 'finished';
	return outputs === undefined ? 'failed' : 'delivered';
}

function isItem(value: unknown): value is StoredItem {
	const hasJob = textAt(value, 'job.id') !== undefined;
	switch (textAt(value, 'name')) {
		case 'waiting':
			return isPoller(valueAt(value, 'poller'));
		case 'finished':
			return isPoller(valueAt(value, 'poller')) && isObject(valueAt(value, 'finished.source'));
		case 'delivered':
			return hasJob && Array.isArray(valueAt(value, 'outputs'));
		default:
			return hasJob && textAt(value, 'failure.message') !== undefined;
	}
}

function isPoller(value: unknown): boolean {
	return (
		['kind', 'job.id', 'stage.name'].every((path) => textAt(value, path) !== undefined) &&
		['timeout', 'since', 'nextPollAt'].every((path) => typeof valueAt(value, path) === 'number')
	);
}

/** The newest waits that this process has parked and not resumed. */
let parked: string[] = [];

const maxParked = 1000;

/**
 * The memory of a wait between two passes, which n8n stores with the execution. Only the next pass reads it: a later wait
 * for the same jobs, such as that of a Retry, starts again.
 */
export class WaitState {
	/** The items that the last pass stored; undefined in the first pass. */
	readonly earlier?: Stored['items'];
	/** The execution that stored them: in a Retry, the retried one. */
	readonly storedBy?: string;
	/** Whether this process parked the wait, and n8n has lost what it stored: the wait would never end. */
	readonly isForgotten: boolean;
	/** The same for all executions that start from what was stored then. */
	readonly origin?: string;
	readonly execution: string;
	/** Whether n8n's database has all jobs of the execution. */
	readonly areJobsStored: boolean;
	/**
	 * Whether n8n may mistake this execution for a crashed one, because it was parked before n8n restarted. A worker of
	 * queue mode searches for crashed executions before it takes any.
	 */
	readonly mayShowAsCrashed: boolean;
	readonly withoutCredential: number = 0;
	private readonly passes: number = 0;
	private readonly waits: Record<string, unknown>;
	/** Different for each run of a loop, and the same in all passes of a run. */
	private readonly runKey: string;
	/** Among all waits of the process. */
	private readonly key: string;

	constructor(context: EngineContext) {
		const jobs = new StoredJobs(context);
		this.areJobsStored = jobs.areAllStored;
		this.mayShowAsCrashed = jobs.wasParkedByOtherProcess && !isWorker(context);
		const own: { waits?: object } = nodeMemory(context) ?? clearNodeMemory(context);
		this.execution = context.getExecutionId();
		this.waits = (own.waits ??= {}) as Record<string, unknown>;
		this.runKey = JSON.stringify(context.getExecuteData().source?.main?.[0] ?? null);
		const stored = readStored(this.waits[this.runKey]);
		delete this.waits[this.runKey];
		this.key = [this.execution, context.getNode().name, this.runKey].join();
		this.isForgotten = parked.includes(this.key) && !stored;
		parked = parked.filter((key) => key !== this.key);
		if (!stored) return;
		const { execution, passes, items, withoutCredential = 0 } = stored;
		this.storedBy = execution;
		this.origin = JSON.stringify([execution, this.runKey, passes]);
		if (execution !== this.execution) return;
		this.earlier = items;
		this.passes = passes;
		this.withoutCredential = withoutCredential;
	}

	/** Stores the items for the next pass. @param hasCredential false if this pass could not read it */
	store(items: StoredItems, hasCredential: boolean): void {
		const stored: Stored = {
			version,
			execution: this.execution,
			passes: this.passes + 1,
			...(!hasCredential && { withoutCredential: this.withoutCredential + 1 }),
			items: Object.fromEntries(items),
		};
		this.waits[this.runKey] = stored;
		parked = [...parked, this.key].slice(-maxParked);
	}
}
