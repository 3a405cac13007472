import { jobKinds } from '../shared/service/protocol/jobs';
import { limits } from '../shared/service/protocol/limits';
import type { PassLength } from './plan';
import type { StoredItems } from './state';

/** Maximum milliseconds between the first polls of two jobs, so that no job waits long for its first poll. */
const maxGap = 50;

/**
 * Spreads the first polls of a pass, so that many jobs are not polled at the same moment. Jobs that the limits of the
 * credential delayed in the last pass are polled first, those that were delayed together in their order.
 * @param count number of items
 * @returns milliseconds from the beginning of the pass, for each item
 */
export function firstPollDelays(count: number, length: PassLength, earlier: StoredItems): number[] {
	// In a short pass, polls follow each other closely, so that all of them are due again in the next pass.
	const seconds = length.name === 'stay' ? jobKinds.video.pollSeconds : limits.minPollSeconds;
	const gap = Math.min(maxGap, (seconds * 1000) / count);
	const timed = Array.from({ length: count }, (_, index) => {
		const item = earlier.get(index);
		const { nextPollAt = 0, lastPolledAt = 0 } = item?.name === 'waiting' ? item.poller : {};
		return { index, nextPollAt, lastPolledAt };
	});
	const inOrder = timed.sort(
		(one, other) => one.nextPollAt - other.nextPollAt || one.lastPolledAt - other.lastPolledAt,
	);
	const delays: number[] = [];
	inOrder.forEach(({ index }, rank) => (delays[index] = rank * gap));
	return delays;
}
