import { sha256 } from '../../support/sha256';
import type { Gateway } from '../../gateway';
import { jobsOf } from '../../n8n/kills/charges';
import type { Delivery } from './sink';

/** Where an execution was when something ended. */
export const moments = ['create', 'pass', 'download', 'held'] as const;
export type Moment = (typeof moments)[number];

/** How its video came, in the order of what it asks of people. */
export const ways = [
	'arrived by itself',
	'arrived after one Retry',
	'collected by its ID',
	'lost',
] as const;
export type Way = (typeof ways)[number];

/** What became of one execution and its video. */
export interface Fate {
	name: string;
	moment: Moment;
	way: Way;
	/** Whether n8n has replaced all that it had stored of the execution by an error, so that Retry runs no node. */
	isEmptied: boolean;
	/** Where the ID of its job was found; only of those that were collected by it. */
	foundIn: string;
	/** How often the order was charged. */
	charges: number;
	/** How often the video went on to the next node, whole. */
	deliveries: number;
}

/** How often the video of a name has arrived with its own bytes. */
export function deliveriesOf(
	gateway: Gateway,
	deliveries: readonly Delivery[],
	name: string,
): number {
	const hashes = new Set(jobsOf(gateway, name).map(({ video }) => video && sha256(video.bytes)));
	return deliveries.filter((each) => each.name === name && hashes.has(each.sha256)).length;
}
