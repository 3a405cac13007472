import type { JobSummary } from '../../gateway/errors/jobSummary';
import type { ItemOutput } from './work';

/** What is known of one item while the node runs. */
export interface Item {
	index: number;
	/** What was remarked. */
	hints: string[];
	job?: JobSummary;
	/** Ends its request, while that is under way. */
	underWay?: AbortController;
	/** What its request gave: what is paid for, if anything is. */
	result?: object;
	outcome?: Outcome;
}

/** An item that can be sent. */
export interface CheckedItem extends Item {
	request: unknown;
}

/** How one item ended: its outputs, and failures in the place of those that did not come. */
export type Outcome = Array<ItemOutput | Failure>;

export interface Failure {
	error: unknown;
}

export function isFailure(output: ItemOutput | Failure): output is Failure {
	return 'error' in output;
}

export function failureOf({ outcome }: Item): Failure | undefined {
	return outcome?.find(isFailure);
}

/** The outputs of an item that ended without any failure. */
export function outputsOf({ outcome }: Item): ItemOutput[] | undefined {
	const isWhole = outcome?.every((output): output is ItemOutput => !isFailure(output));
	return isWhole ? outcome : undefined;
}
