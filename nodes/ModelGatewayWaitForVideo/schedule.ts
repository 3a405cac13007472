import type { PollerState } from '../shared/gateway/jobs/poller';
import { jobKinds } from '../shared/gateway/protocol/jobs';
import { limits } from '../shared/gateway/protocol/limits';
import type { PassLength } from './parkingPolicy';
import type { StoredItem } from './waitState';

/** When the next pass has to begin, in milliseconds since 1970; undefined when no item waits any more. */
export function nextPollOf(items: ReadonlyMap<number, StoredItem>): number | undefined {
	const times = pollersOf(items.values()).map(({ nextPollAt }) => nextPollAt);
	return times.length > 0 ? Math.min(...times) : undefined;
}

function pollersOf(items: Iterable<StoredItem>): PollerState[] {
	return [...items].flatMap((item) => ('poller' in item ? [item.poller] : []));
}

/** At most this far apart, in milliseconds: soon enough that no job waits for its first poll. */
const maxSpread = 50;

/** Spreads the first polls of a pass, so that many jobs are not polled at the same moment. */
export class FirstPolls {
	/** Milliseconds between two jobs. */
	private readonly gap: number;
	/** By the ID of a job, its first item: all items of a job are polled together. */
	private readonly ranks = new Map<string, number>();
	/** By the ID of a job, how many are polled before it where the credential limits the requests. */
	private readonly queueRanks: Map<string, number>;

	/**
	 * @param count of items
	 * @param earlier the items as the last pass left them
	 */
	constructor(count: number, length: PassLength, earlier: Iterable<StoredItem>) {
		// In a short pass they all follow one another closely, so that the next one finds them all due.
		const seconds = length.name === 'stay' ? jobKinds.video.pollSeconds : limits.minPollSeconds;
		this.gap = Math.min(maxSpread, (seconds * 1000) / count);
		this.queueRanks = queueRanks(pollersOf(earlier));
	}

	/** Milliseconds from the beginning of the pass. @param isLimited whether the credential limits the requests */
	delayOf(id: string, item: number, isLimited: boolean): number {
		const first = this.ranks.get(id) ?? item;
		this.ranks.set(id, first);
		const rank = isLimited ? (this.queueRanks.get(id) ?? first) : first;
		return rank * this.gap;
	}
}

/** Those that the limits held back in the last pass go first in this one. */
function queueRanks(pollers: PollerState[]): Map<string, number> {
	const sorted = pollers.sort((one, other) => one.nextPollAt - other.nextPollAt);
	const ids = new Set(sorted.map(({ job }) => job.id));
	return new Map([...ids].map((id, rank) => [id, rank]));
}
