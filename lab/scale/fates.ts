/** The place of an execution at which a process was stopped or killed. */
export const moments = ['create', 'pass', 'download', 'held'] as const;
export type Moment = (typeof moments)[number];

/** How its video arrived, starting with the least work for people. */
export const ways = [
	'arrived by itself',
	'arrived after one Retry',
	'collected by its ID',
	'lost',
] as const;
export type Way = (typeof ways)[number];

/** The outcome of one execution and its video. */
export interface Fate {
	name: string;
	way: Way;
	/** Whether n8n has replaced all that it had stored of the execution with an error, so that Retry runs no node. */
	isEmptied: boolean;
	/** The place in which the job ID was found; only if the video was collected by it. */
	foundIn: string;
	/** How often the order was charged. */
	charges: number;
	/** How often the whole video reached the next node. */
	deliveries: number;
}
