import type { PollerState } from '../shared/service/jobs/poller';
import { jobKinds } from '../shared/service/protocol/jobs';
import { limits } from '../shared/service/protocol/limits';
import type { PassLength } from './plan';
import { pollersOf, type StoredItem } from './state';

/** Maximum milliseconds between the first polls of two jobs, so that no job waits long for its first poll. */
const maxGap = 50;

/** Spreads the first polls of a pass, so that many jobs are not polled at the same moment. */
export class FirstPolls {
	/** Milliseconds between two jobs. */
	private readonly gap: number;
	/** By the ID of a job: how many jobs are polled before it, where the credential limits the requests. */
	private readonly queueRanks: Map<string, number>;

	/**
	 * @param count number of items
	 * @param earlier the items that the last pass stored
	 */
	constructor(count: number, length: PassLength, earlier: Iterable<StoredItem>) {
		// In a short pass, polls follow each other closely, so that all of them are due again in the next pass.
		const seconds = length.name === 'stay' ? jobKinds.video.pollSeconds : limits.minPollSeconds;
		this.gap = Math.min(maxGap, (seconds * 1000) / count);
		this.queueRanks = queueRanks(pollersOf(earlier));
	}

	/** Milliseconds from the beginning of the pass. @param isLimited whether the credential limits the requests */
	delayOf(id: string, item: number, isLimited: boolean): number {
		const rank = (isLimited ? this.queueRanks.get(id) : undefined) ?? item;
		return rank * this.gap;
	}
}

/**
 * The order of jobs by when they were due, so that jobs that the limits delayed in the last pass are polled first. Those
 * that were delayed together keep their order.
 */
function queueRanks(pollers: PollerState[]): Map<string, number> {
	const sorted = pollers.sort(
		(one, other) =>
			one.nextPollAt - other.nextPollAt || (one.lastPolledAt ?? 0) - (other.lastPolledAt ?? 0),
	);
	const ids = new Set(sorted.map(({ job }) => job.id));
	return new Map([...ids].map((id, rank) => [id, rank]));
}
